package dev.lockstep.ledger;

import java.time.Duration;
import java.util.List;

/**
 * What came of a command. When several would apply, the first in this list is given: {@link
 * Overloaded}, {@link TransferIdReused}, {@link UnknownTransfer}, a replayed {@link Done}, {@link
 * NotPending}, {@link UnknownAccount}, {@link CurrencyMismatch}, {@link BeyondReserved}, {@link
 * InsufficientFunds}, {@link BalanceOverflow}, and at last the success.
 */
public sealed interface LedgerOutcome
    permits TransferResult,
        EndResult,
        LinkedResult,
        LedgerOutcome.Done,
        LedgerOutcome.AllDone,
        LedgerOutcome.Refused,
        LedgerOutcome.Overloaded,
        LedgerOutcome.TransferIdReused,
        LedgerOutcome.UnknownTransfer,
        LedgerOutcome.NotPending,
        LedgerOutcome.UnknownAccount,
        LedgerOutcome.CurrencyMismatch,
        LedgerOutcome.BeyondReserved,
        LedgerOutcome.InsufficientFunds,
        LedgerOutcome.BalanceOverflow {

  /**
   * The transfer is as asked.
   *
   * @param replayed it had been so before; nothing was changed now
   */
  record Done(Transfer transfer, boolean replayed)
      implements LedgerOutcome, TransferResult, EndResult {}

  /**
   * Every linked step is done.
   *
   * @param replayed all of it had been done before; nothing was changed now
   */
  record AllDone(List<Transfer> transfers, boolean replayed)
      implements LedgerOutcome, LinkedResult {
    public AllDone {
      transfers = List.copyOf(transfers);
    }
  }

  /**
   * One of the linked steps could not be done, so none was.
   *
   * @param step its place, from 0
   */
  record Refused(int step, LedgerOutcome why) implements LedgerOutcome, LinkedResult {}

  /** Too many requests are waiting; nothing was done. */
  record Overloaded(Duration retryAfter)
      implements LedgerOutcome, TransferResult, EndResult, LinkedResult {}

  /** The id belongs to a transfer of something else. */
  record TransferIdReused(TransferId transfer) implements LedgerOutcome, TransferResult {}

  record UnknownTransfer(TransferId transfer) implements LedgerOutcome, EndResult {}

  /** The transfer has ended otherwise, or was never pending; it says how and when. */
  record NotPending(Transfer transfer) implements LedgerOutcome, EndResult {}

  record UnknownAccount(AccountId account) implements LedgerOutcome, TransferResult {}

  /** The account keeps another currency than the money that should move. */
  record CurrencyMismatch(AccountId account, String currency, String asked)
      implements LedgerOutcome, TransferResult {}

  /** More was to be posted than is reserved. */
  record BeyondReserved(Transfer transfer, long asked) implements LedgerOutcome, EndResult {}

  /**
   * The account would fall below its floor.
   *
   * @param available what could have left it
   */
  record InsufficientFunds(AccountId account, long available, long asked)
      implements LedgerOutcome, TransferResult {}

  /** The account's balance would be more, or less, than a number of 64 bits can say. */
  record BalanceOverflow(AccountId account) implements LedgerOutcome, TransferResult, EndResult {}
}
