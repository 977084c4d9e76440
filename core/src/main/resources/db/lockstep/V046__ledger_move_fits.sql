-- A transfer that stands alone, see dev.lockstep.ledger.LoneMove. As in V043, but it leaves to the decision on locked rows
-- what would make an account's balance less its pending amount too small for a bigint.
CREATE OR REPLACE FUNCTION lockstep.move(
  the_book bigint, the_transfer uuid, the_source bigint, the_target bigint, the_amount bigint, the_currency text,
  the_micros bigint, the_tolerance_micros bigint, the_lock_timeout text, the_transaction_timeout text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  -- Plans are kept: they must be by key even if they are made while there are three accounts, and in its order, which
  -- a bitmap does not keep.
  settings text := set_config('lock_timeout', the_lock_timeout, true)
    -- Should the end of the message that called it never arrive, the transaction is not over. Before version 17 nothing
    -- but TCP ends that.
    || CASE WHEN current_setting('server_version_num')::int >= 170000
         THEN set_config('transaction_timeout', the_transaction_timeout, true) ELSE '' END
    || set_config('enable_seqscan', 'off', true) || set_config('enable_bitmapscan', 'off', true);
  the_time timestamptz := timestamptz 'epoch' + interval '1 microsecond' * the_micros;
  the_tolerance interval := interval '1 microsecond' * the_tolerance_micros;
  changes bigint;
BEGIN
  WITH changed AS (
    UPDATE lockstep.account
    SET balance = balance + CASE account WHEN the_target THEN the_amount ELSE -the_amount END,
      version = version + 1, changed_at = the_time
    WHERE book = the_book AND account = ANY (ARRAY[the_source, the_target])
      AND currency = the_currency AND changed_at <= the_time
      -- In this order nothing overflows here.
      AND (account = the_target
        OR (pending <= 9223372036854775807 - the_amount AND balance >= -9223372036854775808 + pending + the_amount))
    RETURNING account, balance, pending, version),
  moved AS (
    INSERT INTO lockstep.transfer (book, transfer, source, target, amount, posted, state, created_at, ended_at)
    VALUES (the_book, the_transfer, the_source, the_target, the_amount, the_amount, 1, the_time, the_time))
  INSERT INTO lockstep.entry (book, account, version, transfer, kind, amount, balance, pending, at)
  SELECT the_book, account, version, the_transfer, 0,
    CASE account WHEN the_target THEN the_amount ELSE -the_amount END, balance, pending, the_time
  FROM changed;
  GET DIAGNOSTICS changes = ROW_COUNT;
  IF changes <> 2 THEN
    RAISE EXCEPTION 'account % or % of book % is not there, or not so', the_source, the_target, the_book
      USING ERRCODE = '40001';
  END IF;
  IF clock_timestamp() NOT BETWEEN the_time - the_tolerance AND the_time + the_tolerance THEN
    RAISE EXCEPTION 'transfer % is dated %', the_transfer, the_time USING ERRCODE = '40001';
  END IF;
END $$;
