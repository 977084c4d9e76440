-- What a pool began with, and every later change of its total, stand in its audit chain. Only such rows have a
-- total. The first, of cause 6 (opened), has the sequence number 0, before any change of stock, and no hold (all zeros);
-- of cause 7 (restocked) are later ones. A pool's total must be what they add up to.
ALTER TABLE lockstep.stock_audit
  ADD COLUMN total_before integer, -- NULL: this change left the total alone
  ADD COLUMN total_after  integer;
ALTER TABLE lockstep.stock_audit
  ALTER COLUMN total_before SET STATISTICS 10,
  ALTER COLUMN total_after SET STATISTICS 10;
-- A handful of rows a pool, among millions.
CREATE INDEX stock_total ON lockstep.stock_audit (scope, pool, seq) WHERE total_after IS NOT NULL;

-- Pools that are there already begin with what they have now.
INSERT INTO lockstep.stock_audit (scope, pool, seq, hold, cause, actor, held_before, held_after, sold_before,
  sold_after, total_before, total_after, at)
SELECT scope, pool, 0, '00000000-0000-0000-0000-000000000000', 6, 'migration', 0, 0, 0, 0, 0, total, now()
FROM lockstep.pool;

-- The total that was verified last, so that one changed since is noticed.
ALTER TABLE lockstep.audit_mark ADD COLUMN total integer;
UPDATE lockstep.audit_mark m SET total = p.total
FROM lockstep.pool p WHERE p.scope = m.scope AND p.pool = m.pool;

-- How often a hold was extended by who is bounded in it: what the bound is compared with, under the hold's lock.
ALTER TABLE lockstep.hold ADD COLUMN extensions smallint NOT NULL DEFAULT 0;
ALTER TABLE lockstep.hold ALTER COLUMN extensions SET STATISTICS 10;
