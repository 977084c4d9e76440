package dev.lockstep.server.account;

import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.BalanceOverflow;
import dev.lockstep.ledger.LedgerOutcome.BeyondReserved;
import dev.lockstep.ledger.LedgerOutcome.CurrencyMismatch;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.LedgerOverloaded;
import dev.lockstep.ledger.LedgerOutcome.NotPending;
import dev.lockstep.ledger.LedgerOutcome.Refused;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.ledger.LedgerOutcome.UnknownAccount;
import dev.lockstep.ledger.LedgerOutcome.UnknownTransfer;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.cases.Cases;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.function.Function;

/** Maps ledger outcomes to HTTP answers. */
final class TransferAnswers {
  private static final Cases<LedgerOutcome, Function<BookId, Problem>> PROBLEMS =
      Cases.<LedgerOutcome, Function<BookId, Problem>>over(LedgerOutcome.class)
          .when(LedgerOverloaded.class, full -> book -> Problem.overloaded(full.retryAfter()))
          .when(TransferIdReused.class, reused -> book -> Problem.keyReused())
          .when(UnknownTransfer.class, unknown -> book -> Problem.notFound("such transfer"))
          .when(NotPending.class, other -> book -> notPending(other))
          .when(
              UnknownAccount.class,
              unknown ->
                  book ->
                      Problem.notFound("such account")
                          .with("account", number(book, unknown.account())))
          .when(CurrencyMismatch.class, other -> book -> otherCurrency(book, other))
          .when(BeyondReserved.class, beyond -> book -> beyondReserved(beyond))
          .when(InsufficientFunds.class, lack -> book -> insufficient(book, lack))
          .when(BalanceOverflow.class, overflow -> book -> tooMuch(book, overflow))
          .when(
              Refused.class,
              refused -> book -> problem(book, refused.why()).with("step", refused.step()))
          .never(TransferDone.class)
          .never(AllDone.class)
          .complete();

  private TransferAnswers() {}

  /**
   * @param success the status of a success: 201 for a new transfer, 200 for an existing one
   */
  static Answer answer(BookId book, LedgerOutcome outcome, int success) {
    if (outcome instanceof TransferDone done) {
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
    return problem(book, outcome).toAnswer();
  }

  private static Problem problem(BookId book, LedgerOutcome outcome) {
    return PROBLEMS.of(outcome).apply(book);
  }

  private static Problem insufficient(BookId book, InsufficientFunds lack) {
    return conflict(
            "insufficient-funds",
            "Insufficient funds",
            "The account would fall below its floor; nothing was moved.")
        .with("account", number(book, lack.account()))
        .with("available", lack.available())
        .with("asked", lack.asked());
  }

  private static Problem otherCurrency(BookId book, CurrencyMismatch other) {
    return Problem.of(
            "currency-mismatch",
            422,
            "Currency mismatch",
            "The account has another currency; nothing was moved.")
        .with("account", number(book, other.account()))
        .with("currency", other.currency())
        .with("asked", other.asked());
  }

  private static Problem tooMuch(BookId book, BalanceOverflow overflow) {
    return conflict(
            "balance-overflow",
            "Balance overflow",
            "The balance would exceed 64 bits; nothing was moved.")
        .with("account", number(book, overflow.account()));
  }

  private static Problem notPending(NotPending other) {
    String state = other.transfer().state().name().toLowerCase(Locale.ROOT);
    return conflict(
            "transfer-not-pending",
            "Transfer not pending",
            "The transfer is no longer pending: it is " + state + ".")
        .with("state", state)
        .with("posted", other.transfer().posted());
  }

  private static Problem beyondReserved(BeyondReserved beyond) {
    return conflict(
            "beyond-reserved",
            "Beyond what is reserved",
            "The amount exceeds what is reserved; nothing was moved.")
        .with("reserved", beyond.transfer().money().amount())
        .with("asked", beyond.asked());
  }

  private static String number(BookId book, AccountId account) {
    return new AccountNumber(book, account).toString();
  }

  private static Problem conflict(String slug, String title, String detail) {
    return Problem.of(slug, 409, title, detail);
  }
}
