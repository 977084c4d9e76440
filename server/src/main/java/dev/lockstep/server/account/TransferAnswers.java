package dev.lockstep.server.account;

import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.BalanceOverflow;
import dev.lockstep.ledger.LedgerOutcome.BeyondReserved;
import dev.lockstep.ledger.LedgerOutcome.CurrencyMismatch;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.NotPending;
import dev.lockstep.ledger.LedgerOutcome.Overloaded;
import dev.lockstep.ledger.LedgerOutcome.Refused;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.ledger.LedgerOutcome.UnknownAccount;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Problem;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** What came of a command on the ledger, as HTTP. */
final class TransferAnswers {
  private TransferAnswers() {}

  /**
   * @param success the status of a success: 201 for a transfer that was made, 200 for one that was
   *     there
   */
  static Answer answer(BookId book, LedgerOutcome outcome, int success) {
    if (outcome instanceof Done done) {
      JsonObject json = AccountView.json(done.transfer());
      return success == 201
          ? Answer.created("/v1/transfers/" + json.getString("id"), json)
          : Answer.of(success, json);
    }
    if (outcome instanceof AllDone all) {
      JsonArray transfers = new JsonArray();
      all.transfers().forEach(transfer -> transfers.add(AccountView.json(transfer)));
      return Answer.of(success, new JsonObject().put("transfers", transfers));
    }
    if (outcome instanceof Refused refused) {
      return problem(book, refused.why()).with("step", refused.step()).toAnswer();
    }
    return problem(book, outcome).toAnswer();
  }

  private static Problem problem(BookId book, LedgerOutcome outcome) {
    if (outcome instanceof Overloaded overloaded) {
      return Problem.overloaded(overloaded.retryAfter());
    }
    if (outcome instanceof TransferIdReused) {
      return Problem.keyReused();
    }
    if (outcome instanceof InsufficientFunds lack) {
      return conflict(
              "insufficient-funds",
              "Insufficient funds",
              "The account would fall below its floor; nothing was moved.")
          .with("account", number(book, lack.account()))
          .with("available", lack.available())
          .with("asked", lack.asked());
    }
    if (outcome instanceof CurrencyMismatch other) {
      return Problem.of(
              "currency-mismatch",
              422,
              "Currency mismatch",
              "The account keeps another currency; nothing was moved.")
          .with("account", number(book, other.account()))
          .with("currency", other.currency())
          .with("asked", other.asked());
    }
    if (outcome instanceof BalanceOverflow overflow) {
      return conflict(
              "balance-overflow",
              "Balance overflow",
              "The balance would be more than a number of 64 bits can say; nothing was moved.")
          .with("account", number(book, overflow.account()));
    }
    if (outcome instanceof UnknownAccount unknown) {
      return Problem.notFound("such account").with("account", number(book, unknown.account()));
    }
    return ended(outcome);
  }

  /** Of a transfer that was to be posted or voided. */
  private static Problem ended(LedgerOutcome outcome) {
    if (outcome instanceof NotPending other) {
      String state = other.transfer().state().name().toLowerCase(Locale.ROOT);
      return conflict(
              "transfer-not-pending",
              "Transfer not pending",
              "The transfer is not pending any more: it is " + state + ".")
          .with("state", state)
          .with("posted", other.transfer().posted());
    }
    if (outcome instanceof BeyondReserved beyond) {
      return conflict(
              "beyond-reserved",
              "Beyond what is reserved",
              "More was to be posted than is reserved; nothing was moved.")
          .with("reserved", beyond.transfer().money().amount())
          .with("asked", beyond.asked());
    }
    return Problem.notFound("such transfer");
  }

  private static String number(BookId book, AccountId account) {
    return new AccountNumber(book, account).toString();
  }

  private static Problem conflict(String slug, String title, String detail) {
    return Problem.of(slug, 409, title, detail);
  }
}
