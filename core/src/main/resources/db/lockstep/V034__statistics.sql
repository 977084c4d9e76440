-- These tables are read by key, and their plans do not depend on what is in them. Under a rush autovacuum comes by every
-- minute and would take a sample of thirty thousand rows of each for its statistics, a second of a core; a tenth of that does.
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT a.attrelid::regclass AS of, a.attname AS name FROM pg_attribute a
    WHERE a.attnum > 0 AND NOT a.attisdropped
      AND a.attrelid IN ('lockstep.unit'::regclass, 'lockstep.hold'::regclass, 'lockstep.quota'::regclass,
        'lockstep.stock_audit'::regclass, 'lockstep.once'::regclass, 'lockstep.account'::regclass,
        'lockstep.transfer'::regclass, 'lockstep.entry'::regclass)
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 10', one.of, one.name);
  END LOOP;
END $$;
