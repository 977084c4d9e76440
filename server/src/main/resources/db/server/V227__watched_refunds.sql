-- A bank may send the refund of a part back weeks later, too: what the comparison with the provider walks through are all
-- purchases of which something was given back.
DROP INDEX lockstep_server.purchase_refunded;
CREATE INDEX purchase_refunded ON lockstep_server.purchase (changed_at, campaign, id)
  WHERE status = 6 OR given_back IS NOT NULL;
