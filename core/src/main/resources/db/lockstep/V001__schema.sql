-- Every table of Lockstep lives in this schema; each table is owned by one package of core.
CREATE SCHEMA IF NOT EXISTS lockstep;
COMMENT ON SCHEMA lockstep IS 'Lockstep: holds, jobs, outbox and ledger. Written only through the library.';
