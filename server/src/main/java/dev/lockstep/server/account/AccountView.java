package dev.lockstep.server.account;

import dev.lockstep.ledger.Account;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Entry;
import dev.lockstep.ledger.Statement;
import dev.lockstep.ledger.Transfer;
import dev.lockstep.ledger.TrialBalance;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The ledger's values as JSON. */
final class AccountView {
  private static final Shape ID = Shape.text(1, 64);
  private static final Shape AMOUNT = Shape.integer(Long.MIN_VALUE, Long.MAX_VALUE);
  private static final Shape CURRENCY = Shape.text(1, 12);

  static final ObjectShape ACCOUNT =
      Shape.object()
          .required("id", ID)
          .required("campaign", Shape.nullable(ID))
          .required("name", Shape.text(1, 200))
          .required("currency", CURRENCY)
          .required("floor", Shape.nullable(AMOUNT))
          .required("balance", AMOUNT)
          .required("pending", AMOUNT)
          .required("available", Shape.nullable(AMOUNT))
          .required("version", AMOUNT)
          .required("changedAt", Shape.time());

  static final ObjectShape ENTRY =
      Shape.object()
          .required("version", Shape.integer(1, Long.MAX_VALUE))
          .required("transfer", ID)
          .required("kind", Shape.choice("moved", "reserved", "posted", "voided", "expired"))
          .required("amount", AMOUNT)
          .required("balance", AMOUNT)
          .required("pending", AMOUNT)
          .required("at", Shape.time());

  static final ObjectShape STATEMENT =
      Shape.object()
          .required("opening", AMOUNT)
          .required("entries", Shape.list(ENTRY, 0, 1_000))
          .required("closing", AMOUNT)
          .required("more", Shape.bool());

  static final ObjectShape TRANSFER =
      Shape.object()
          .required("id", ID)
          .required("from", ID)
          .required("to", ID)
          .required("amount", AMOUNT)
          .required("currency", CURRENCY)
          .required("state", Shape.choice("pending", "posted", "voided", "expired"))
          .required("posted", AMOUNT)
          .required("createdAt", Shape.time())
          .required("expiresAt", Shape.nullable(Shape.time()))
          .required("endedAt", Shape.nullable(Shape.time()));

  static final ObjectShape TRANSFERS =
      Shape.object().required("transfers", Shape.list(TRANSFER, 1, 100));

  static final ObjectShape TRIAL_BALANCE =
      Shape.object()
          .required(
              "items",
              Shape.list(
                  Shape.object()
                      .required("currency", CURRENCY)
                      .required("accounts", AMOUNT)
                      .required("credit", Shape.text(1, 40))
                      .required("debit", Shape.text(1, 40))
                      .required("difference", Shape.text(1, 40)),
                  0,
                  1_000));

  private AccountView() {}

  static JsonObject json(Account account) {
    return new JsonObject()
        .put("id", AccountNumber.of(account).toString())
        .put("campaign", campaign(account.book()))
        .put("name", account.name())
        .put("currency", account.currency())
        .put("floor", account.floor().isPresent() ? account.floor().getAsLong() : null)
        .put("balance", account.balance())
        .put("pending", account.pending())
        .put("available", account.available().isPresent() ? account.available().getAsLong() : null)
        .put("version", account.version())
        .put("changedAt", account.changedAt().toString());
  }

  static JsonObject json(BookId book, Entry entry) {
    return new JsonObject()
        .put("version", entry.version())
        .put("transfer", new TransferNumber(book, entry.transfer()).toString())
        .put("kind", entry.kind().name().toLowerCase(Locale.ROOT))
        .put("amount", entry.amount())
        .put("balance", entry.balance())
        .put("pending", entry.pending())
        .put("at", entry.at().toString());
  }

  static JsonObject json(BookId book, Statement statement) {
    JsonArray entries = new JsonArray();
    statement.entries().forEach(entry -> entries.add(json(book, entry)));
    return new JsonObject()
        .put("opening", statement.opening())
        .put("entries", entries)
        .put("closing", statement.closing())
        .put("more", statement.more());
  }

  static JsonObject json(Transfer transfer) {
    return new JsonObject()
        .put("id", new TransferNumber(transfer.book(), transfer.id()).toString())
        .put("from", new AccountNumber(transfer.book(), transfer.from()).toString())
        .put("to", new AccountNumber(transfer.book(), transfer.to()).toString())
        .put("amount", transfer.money().amount())
        .put("currency", transfer.money().currency())
        .put("state", transfer.state().name().toLowerCase(Locale.ROOT))
        .put("posted", transfer.posted())
        .put("createdAt", transfer.createdAt().toString())
        .put("expiresAt", transfer.expiresAt().map(Instant::toString).orElse(null))
        .put("endedAt", transfer.endedAt().map(Instant::toString).orElse(null));
  }

  /** Sums as text: they may exceed the exact integers of JSON readers. */
  static JsonObject json(TrialBalance balance) {
    return new JsonObject()
        .put("currency", balance.currency())
        .put("accounts", balance.accounts())
        .put("credit", text(balance.credit()))
        .put("debit", text(balance.debit()))
        .put("difference", text(balance.difference()));
  }

  private static String text(BigInteger number) {
    return number.toString();
  }

  private static @Nullable String campaign(BookId book) {
    return book.equals(AccountNumber.GENERAL) ? null : String.valueOf(book.value());
  }
}
