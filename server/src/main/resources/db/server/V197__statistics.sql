-- As V034__statistics.sql says: tables that grow with every purchase and are read by key.
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT a.attrelid::regclass AS of, a.attname AS name FROM pg_attribute a
    WHERE a.attnum > 0 AND NOT a.attisdropped
      AND a.attrelid IN ('lockstep_server.purchase'::regclass, 'lockstep_server.payment_event'::regclass,
        'gateway.intent'::regclass, 'gateway.answer'::regclass, 'gateway.webhook'::regclass)
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 10', one.of, one.name);
  END LOOP;
END $$;
