package dev.lockstep.server.account;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.ledger.Account;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.once.Once;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Accounts over HTTP: opened, listed, shown with entries and statements. Thread-safe. */
public final class Accounts {
  private static final Role[] WHO = {Role.OPERATOR, Role.SERVICE};
  private static final int MAX_STATEMENT = 1_000;
  private static final String NEXT_NUMBER = "SELECT nextval('lockstep_server.account_number')";

  private static final Shape NEW_ACCOUNT =
      Shape.object()
          .required("name", Shape.text(1, NewAccount.MAX_NAME_LENGTH))
          .required("currency", Shape.text(1, Money.MAX_CURRENCY_LENGTH))
          .optional("floor", Shape.nullable(Shape.integer(Long.MIN_VALUE, 0)))
          .optional("campaign", Shape.nullable(Shape.text(1, 18)));

  private final Workers workers;
  private final Transactor transactor;
  private final Ledger ledger;
  private final Once once;
  private final Transfers transfers;

  public Accounts(Vertx vertx, Workers workers, Transactor transactor, Ledger ledger, Once once) {
    this.workers = workers;
    this.transactor = transactor;
    this.ledger = ledger;
    this.once = once;
    this.transfers = new Transfers(vertx, workers, ledger, once);
  }

  /** Opens the book of accounts that belong to no campaign. Blocks. */
  public void start() {
    ledger.openBook(AccountNumber.GENERAL);
  }

  public List<Endpoint> endpoints() {
    List<Endpoint> endpoints = new ArrayList<>(transfers.endpoints());
    endpoints.add(
        Endpoint.of(POST, "/v1/accounts", "Opens an account with balance zero.")
            .by(WHO)
            .withIdempotencyKey(IdempotencyKey.OPTIONAL)
            .taking(NEW_ACCOUNT)
            .answering(201, AccountView.ACCOUNT)
            .handledBy(this::create));
    endpoints.add(
        Endpoint.of(GET, "/v1/accounts", "Lists accounts, oldest first.")
            .by(WHO)
            .asReport()
            .withQuery("campaign", "Accounts of this campaign's book; default: of no campaign.")
            .paged(AccountView.ACCOUNT)
            .handledBy(this::list));
    endpoints.add(
        Endpoint.of(GET, "/v1/accounts/{id}", "Shows an account.")
            .by(WHO)
            .tagged()
            .answering(200, AccountView.ACCOUNT)
            .handledBy(
                request ->
                    workers.read(request, () -> Answer.ok(AccountView.json(find(request))))));
    endpoints.add(
        Endpoint.of(GET, "/v1/accounts/{id}/entries", "Lists an account's entries, oldest first.")
            .by(WHO)
            .asReport()
            .paged(AccountView.ENTRY)
            .handledBy(this::entries));
    endpoints.add(
        Endpoint.of(
                GET,
                "/v1/accounts/{id}/statement",
                "Shows the balances at two times and the entries between them.")
            .by(WHO)
            .withQuery("from", "Entries after this time; default: from the beginning.")
            .withQuery("to", "Entries up to this time; default: now.")
            .withQuery("limit", "The most entries, 1 to " + MAX_STATEMENT + "; default 100.")
            .answering(200, AccountView.STATEMENT)
            .handledBy(this::statement));
    endpoints.add(
        Endpoint.of(
                GET, "/v1/trial-balance", "Adds up all balances of a book; the difference is zero.")
            .by(WHO)
            .asReport()
            .withQuery("campaign", "The campaign whose book to add up; default: no campaign's.")
            .answering(200, AccountView.TRIAL_BALANCE)
            .handledBy(this::trialBalance));
    return endpoints;
  }

  private Future<Answer> create(Request request) {
    JsonObject body = request.body();
    BookId book = book(Optional.ofNullable(body.getString("campaign")));
    requireMayWrite(request, book);
    String currency = body.getString("currency");
    if (!currency.matches("[A-Z0-9]+")) {
      throw Problem.invalid("currency", "must consist of A to Z and 0 to 9").asException();
    }
    OptionalLong floor = floor(body);
    String name = body.getString("name");
    TxWork<Answer> work = connection -> open(connection, book, name, currency, floor);
    return workers.run(() -> StoredAnswer.call(transactor, once, book.value(), request, work));
  }

  private Answer open(
      Connection connection, BookId book, String name, String currency, OptionalLong floor)
      throws SQLException {
    AccountId id = new AccountId(nextNumber(connection));
    NewAccount account = new NewAccount(id, name, currency, floor);
    if (book.equals(AccountNumber.GENERAL)) {
      ledger.openAccounts(connection, book, List.of(account));
    } else {
      ledger.ensureAccounts(connection, book, List.of(account));
    }
    Account opened = ledger.account(connection, book, id).orElseThrow();
    JsonObject json = AccountView.json(opened);
    return Answer.created("/v1/accounts/" + json.getString("id"), json);
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    BookId book = book(request.query("campaign"));
    AccountId after = new AccountId(page.afterNumber(0));
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    ledger.accounts(book, after, page.limit() + 1),
                    AccountView::json,
                    one -> String.valueOf(one.id().value()))));
  }

  private Future<Answer> entries(Request request) {
    AccountNumber number = AccountNumber.of(request.path("id"));
    Page page = request.page();
    long after = page.afterNumber(0);
    return workers.read(
        request,
        () -> {
          find(request);
          return Answer.ok(
              page.of(
                  ledger.entries(number.book(), number.account(), after, page.limit() + 1),
                  entry -> AccountView.json(number.book(), entry),
                  entry -> String.valueOf(entry.version())));
        });
  }

  private Future<Answer> statement(Request request) {
    AccountNumber number = AccountNumber.of(request.path("id"));
    Instant from = time(request, "from").orElse(Instant.EPOCH);
    Instant to = time(request, "to").orElse(Instant.parse("9999-01-01T00:00:00Z"));
    if (to.isBefore(from)) {
      throw Problem.invalid("to", "must not be before 'from'").asException();
    }
    int limit = request.page().limit();
    // Locks the account briefly, which a read-only report cannot do.
    return workers.besideReports(
        () -> {
          find(request);
          return Answer.ok(
              AccountView.json(
                  number.book(),
                  ledger.statement(number.book(), number.account(), from, to, limit)));
        });
  }

  private Future<Answer> trialBalance(Request request) {
    BookId book = book(request.query("campaign"));
    return workers.read(
        request,
        () -> {
          JsonArray items = new JsonArray();
          ledger.trialBalance(book).forEach(one -> items.add(AccountView.json(one)));
          return Answer.ok(new JsonObject().put("items", items));
        });
  }

  /** Blocks. */
  private Account find(Request request) {
    AccountNumber number = AccountNumber.of(request.path("id"));
    return ledger
        .account(number.book(), number.account())
        .orElseThrow(() -> Problem.notFound("such account").asException());
  }

  /** A campaign's book records its takings, so only operators write to it. */
  static void requireMayWrite(Request request, BookId book) {
    if (!book.equals(AccountNumber.GENERAL) && request.principal().role() != Role.OPERATOR) {
      throw Problem.forbidden("Only an operator may write to a campaign's book.").asException();
    }
  }

  private static BookId book(Optional<String> campaign) {
    return Campaigns.named(campaign).map(BookId::new).orElse(AccountNumber.GENERAL);
  }

  /** 0 by default; null means no floor. */
  private static OptionalLong floor(JsonObject body) {
    if (!body.containsKey("floor")) {
      return OptionalLong.of(0);
    }
    Long floor = body.getLong("floor");
    return floor == null ? OptionalLong.empty() : OptionalLong.of(floor);
  }

  private static Optional<Instant> time(Request request, String parameter) {
    return request
        .query(parameter, Shape.time())
        .map(text -> OffsetDateTime.parse(text).toInstant());
  }

  private static long nextNumber(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(NEXT_NUMBER);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }
}
