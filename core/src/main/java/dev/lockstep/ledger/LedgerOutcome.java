package dev.lockstep.ledger;

import java.time.Duration;
import java.util.List;

/**
 * The outcome of a command. If several apply, the first in this list is given: {@link
 * LedgerOverloaded}, {@link TransferIdReused}, {@link UnknownTransfer}, a replayed {@link
 * TransferDone}, {@link NotPending}, {@link UnknownAccount}, {@link CurrencyMismatch}, {@link
 * BeyondReserved}, {@link InsufficientFunds}, {@link BalanceOverflow}, and finally the success.
 */
public sealed interface LedgerOutcome
    permits TransferResult,
        TransferEndResult,
        LinkedResult,
        LedgerOutcome.TransferDone,
        LedgerOutcome.AllDone,
        LedgerOutcome.Refused,
        LedgerOutcome.LedgerOverloaded,
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
   * @param replayed whether an earlier command had done it
   */
  record TransferDone(Transfer transfer, boolean replayed)
      implements LedgerOutcome, TransferResult, TransferEndResult {}

  /**
   * Every linked step is done.
   *
   * @param replayed whether earlier commands had done every step
   */
  record AllDone(List<Transfer> transfers, boolean replayed)
      implements LedgerOutcome, LinkedResult {
    public AllDone {
      transfers = List.copyOf(transfers);
    }
  }

  /**
   * A linked step was refused, so none was done.
   *
   * @param step the refused step's index, from 0
   */
  record Refused(int step, LedgerOutcome why) implements LedgerOutcome, LinkedResult {}

  /** Too many requests wait; nothing was changed. */
  record LedgerOverloaded(Duration retryAfter)
      implements LedgerOutcome, TransferResult, TransferEndResult, LinkedResult {}

  /** The id belongs to a transfer with other content. */
  record TransferIdReused(TransferId transfer) implements LedgerOutcome, TransferResult {}

  record UnknownTransfer(TransferId transfer) implements LedgerOutcome, TransferEndResult {}

  /** The transfer has ended in another way, or was never pending; it says how and when. */
  record NotPending(Transfer transfer) implements LedgerOutcome, TransferEndResult {}

  record UnknownAccount(AccountId account) implements LedgerOutcome, TransferResult {}

  /** The account has another currency than the money to move. */
  record CurrencyMismatch(AccountId account, String currency, String asked)
      implements LedgerOutcome, TransferResult {}

  /** The post asks for more than is reserved. */
  record BeyondReserved(Transfer transfer, long asked)
      implements LedgerOutcome, TransferEndResult {}

  /**
   * The account would fall below its floor.
   *
   * @param available what could have left it
   */
  record InsufficientFunds(AccountId account, long available, long asked)
      implements LedgerOutcome, TransferResult {}

  /** The account's balance would not fit into 64 bits. */
  record BalanceOverflow(AccountId account)
      implements LedgerOutcome, TransferResult, TransferEndResult {}
}
