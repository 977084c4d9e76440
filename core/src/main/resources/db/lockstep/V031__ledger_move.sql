-- A transfer that stands alone, in one statement: see dev.lockstep.ledger.LoneMove.

-- Every statement that writes a row unpacks and compiles the constraints of its table anew, in a time that grows with
-- their text: the eleven of these two cost a transfer that stands alone a tenth of its time. So they are left to what
-- would make or lose money. A write that finds a row other than it was seen sets NULL where that is refused, for nothing.
ALTER TABLE lockstep.account
  DROP CONSTRAINT account_floor_check,
  DROP CONSTRAINT account_pending_check,
  DROP CONSTRAINT account_version_check,
  DROP CONSTRAINT never_below_its_floor,
  ADD CONSTRAINT never_below_its_floor CHECK (pending >= 0 AND balance - pending >= floor);

ALTER TABLE lockstep.transfer
  DROP CONSTRAINT transfer_amount_check,
  DROP CONSTRAINT transfer_check,
  DROP CONSTRAINT transfer_state_check,
  DROP CONSTRAINT from_one_to_another,
  DROP CONSTRAINT ended_with_time,
  DROP CONSTRAINT pending_with_expiry,
  DROP CONSTRAINT posted_moves_something,
  ADD CONSTRAINT moves_something_elsewhere CHECK (source <> target AND amount > 0 AND posted BETWEEN 0 AND amount);

-- Moves money if there is nothing to be said against it; else fails, whatever the reason, and has done nothing.
-- The accounts are locked in the order of their ids, by being changed. Enough is in them: never_below_its_floor.
-- The transfer is new: its key. All of it happened at one time, before which nothing may be in the future.
CREATE FUNCTION lockstep.move(
  the_book bigint, the_transfer uuid, the_source bigint, the_target bigint, the_amount bigint, the_currency text,
  the_time timestamptz, the_lock_timeout text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  low bigint := least(the_source, the_target);
  high bigint := greatest(the_source, the_target);
  -- What the lower of the two gets, and the higher gives.
  gain bigint := CASE WHEN low = the_target THEN the_amount ELSE -the_amount END;
  low_balance bigint;
  low_pending bigint;
  low_version bigint;
  high_balance bigint;
  high_pending bigint;
  high_version bigint;
  -- Plans are kept: they must be by key even if they are made while there are three accounts.
  settings text := set_config('lock_timeout', the_lock_timeout, true) || set_config('enable_seqscan', 'off', true);
BEGIN
  UPDATE lockstep.account SET balance = balance + gain, version = version + 1, changed_at = the_time
    WHERE book = the_book AND account = low AND currency = the_currency AND changed_at <= the_time
    RETURNING balance, pending, version INTO low_balance, low_pending, low_version;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'account % of book % is not there, or not so', low, the_book USING ERRCODE = '40001';
  END IF;
  UPDATE lockstep.account SET balance = balance - gain, version = version + 1, changed_at = the_time
    WHERE book = the_book AND account = high AND currency = the_currency AND changed_at <= the_time
    RETURNING balance, pending, version INTO high_balance, high_pending, high_version;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'account % of book % is not there, or not so', high, the_book USING ERRCODE = '40001';
  END IF;
  INSERT INTO lockstep.transfer (book, transfer, source, target, amount, posted, state, created_at, ended_at)
    VALUES (the_book, the_transfer, the_source, the_target, the_amount, the_amount, 1, the_time, the_time);
  INSERT INTO lockstep.entry (book, account, version, transfer, kind, amount, balance, pending, at)
    VALUES (the_book, low, low_version, the_transfer, 0, gain, low_balance, low_pending, the_time),
           (the_book, high, high_version, the_transfer, 0, -gain, high_balance, high_pending, the_time);
END $$;
