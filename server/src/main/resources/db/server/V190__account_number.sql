-- Numbers of accounts that are opened over HTTP: owned by dev.lockstep.server.account. They only have to differ;
-- below them are the accounts that a campaign's book has from its first sale.
CREATE SEQUENCE lockstep_server.account_number START 1000 MINVALUE 1000;
