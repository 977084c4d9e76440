-- Every table of Lockstep lives in this schema; each table is owned by one package of core.
-- A migration tool that keeps its own history in the schema has created it already.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'lockstep') THEN
    CREATE SCHEMA lockstep;
  END IF;
END $$;
COMMENT ON SCHEMA lockstep IS 'Lockstep: holds, jobs, outbox and ledger. Written only through the library.';
