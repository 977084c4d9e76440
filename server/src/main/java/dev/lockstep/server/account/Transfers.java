package dev.lockstep.server.account;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerCommand.VoidPending;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.KeyedAnswers;
import dev.lockstep.server.api.KeyedAnswers.KeyedAnswer;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Ticket;
import dev.lockstep.server.api.Workers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Transfers over HTTP: immediate or two-phase, single or linked. Thread-safe. */
final class Transfers {
  private static final Role[] WHO = {Role.OPERATOR, Role.SERVICE};
  private static final Duration PENDING_FOR = Duration.ofDays(7);
  private static final long MAX_PENDING_SECONDS = LedgerConfig.DEFAULT.maxPendingFor().toSeconds();

  private static final ObjectShape TRANSFER =
      Shape.object()
          .required("from", Shape.text(1, 64))
          .required("to", Shape.text(1, 64))
          .required("amount", Shape.integer(1, Long.MAX_VALUE))
          .required("currency", Shape.text(1, Money.MAX_CURRENCY_LENGTH))
          .optional("pending", Shape.bool())
          .optional("expiresSeconds", Shape.integer(1, MAX_PENDING_SECONDS));

  /** One transfer, or several that happen all or none. */
  private static final Shape NEW_TRANSFERS =
      Shape.oneOfHaving(
          Map.of(
              "from",
              TRANSFER,
              "transfers",
              Shape.object()
                  .required("transfers", Shape.list(TRANSFER, 1, LedgerCommand.MAX_LINKED))));

  /** One transfer, or those that were made together. */
  private static final Shape MADE =
      Shape.oneOfHaving(Map.of("id", AccountView.TRANSFER, "transfers", AccountView.TRANSFERS));

  private static final Shape POSTING =
      Shape.object().optional("amount", Shape.integer(1, Long.MAX_VALUE));

  private final Vertx vertx;
  private final Workers workers;
  private final Ledger ledger;
  private final Once once;
  private final KeyedAnswers<BookId, LedgerOutcome> companion;

  Transfers(Vertx vertx, Workers workers, Ledger ledger, Once once) {
    this.vertx = vertx;
    this.workers = workers;
    this.ledger = ledger;
    this.once = once;
    this.companion = new KeyedAnswers<>(once, Transfers::decided);
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(POST, "/v1/transfers", "Moves or reserves money; several, all or none.")
            .by(WHO)
            .withIdempotencyKey(IdempotencyKey.REQUIRED)
            .taking(NEW_TRANSFERS)
            .answering(201, MADE)
            .handledBy(this::create),
        Endpoint.of(GET, "/v1/transfers/{id}", "Shows a transfer.")
            .by(WHO)
            .tagged()
            .answering(200, AccountView.TRANSFER)
            .handledBy(this::show),
        Endpoint.of(POST, "/v1/transfers/{id}/post", "Moves the reserved amount, or part of it.")
            .by(WHO)
            .withIdempotencyKey(IdempotencyKey.REQUIRED)
            .perhapsTaking(POSTING)
            .answering(200, AccountView.TRANSFER)
            .handledBy(this::post),
        Endpoint.of(POST, "/v1/transfers/{id}/void", "Releases the reserved amount.")
            .by(WHO)
            .withIdempotencyKey(IdempotencyKey.REQUIRED)
            .perhapsTaking(Shape.object())
            .answering(200, AccountView.TRANSFER)
            .handledBy(
                request ->
                    end(request, number -> new VoidPending(number.book(), number.transfer()))));
  }

  private Future<Answer> create(Request request) {
    String key = request.idempotencyKey().orElseThrow();
    LedgerCommand<?> command = command(request, key);
    Accounts.requireMayWrite(request, command.book());
    Ticket<BookId> ticket =
        new Ticket<>(
            command.book(),
            new OnceKey(command.book().value(), request.principal().name(), key),
            request.fingerprint());
    return submit(command, ticket);
  }

  private <R extends LedgerOutcome> Future<Answer> submit(
      LedgerCommand<R> command, Ticket<BookId> ticket) {
    return Future.fromCompletionStage(
            ledger.submit(command, companion, ticket), vertx.getOrCreateContext())
        .map(
            result ->
                result.resultOr(outcome -> TransferAnswers.answer(command.book(), outcome, 201)));
  }

  private static KeyedAnswer decided(BookId book, LedgerOutcome outcome) {
    return new KeyedAnswer(
        TransferAnswers.answer(book, outcome, 201),
        hasMoved(outcome),
        !(outcome instanceof TransferIdReused));
  }

  private static boolean hasMoved(LedgerOutcome outcome) {
    return (outcome instanceof TransferDone done && !done.replayed())
        || (outcome instanceof AllDone all && !all.replayed());
  }

  private Future<Answer> show(Request request) {
    TransferNumber number = TransferNumber.of(request.path("id"));
    return workers.read(
        request,
        () ->
            ledger
                .transfer(number.book(), number.transfer())
                .map(transfer -> Answer.ok(AccountView.json(transfer)))
                .orElseThrow(() -> Problem.notFound("such transfer").asException()));
  }

  private Future<Answer> post(Request request) {
    Long amount = request.body().getLong("amount");
    OptionalLong asked = amount == null ? OptionalLong.empty() : OptionalLong.of(amount);
    return end(request, number -> new Post(number.book(), number.transfer(), asked));
  }

  @FunctionalInterface
  private interface Ending {
    LedgerCommand<?> of(TransferNumber number);
  }

  /** Locks the key first, then the accounts, in one transaction: the global lock order. */
  private Future<Answer> end(Request request, Ending ending) {
    TransferNumber number = TransferNumber.of(request.path("id"));
    Accounts.requireMayWrite(request, number.book());
    return workers.run(
        () ->
            StoredAnswer.call(
                once,
                number.book().value(),
                request,
                connection ->
                    TransferAnswers.answer(
                        number.book(), ledger.join(connection, ending.of(number)), 200)));
  }

  /** Equal keys give equal transfer ids, so twins cannot both create them. */
  private static LedgerCommand<?> command(Request request, String key) {
    String owner = request.principal().name();
    JsonArray several = request.body().getJsonArray("transfers");
    if (several == null) {
      return one("", request.body(), TransferId.forKey(owner, key));
    }
    List<LedgerCommand<?>> steps = new ArrayList<>();
    for (int i = 0; i < several.size(); i++) {
      // Keys contain no line break.
      TransferId id = TransferId.forKey(owner, key + "\n" + i);
      steps.add(one("transfers[" + i + "].", several.getJsonObject(i), id));
    }
    BookId book = steps.get(0).book();
    for (int i = 0; i < steps.size(); i++) {
      if (!steps.get(i).book().equals(book)) {
        throw Problem.invalid("transfers[" + i + "].from", "must be in the same book as the first")
            .asException();
      }
    }
    return new Linked(book, steps);
  }

  private static LedgerCommand<?> one(String at, JsonObject body, TransferId id) {
    AccountNumber from = account(at + "from", body.getString("from"));
    AccountNumber to = account(at + "to", body.getString("to"));
    if (from.equals(to)) {
      throw Problem.invalid(at + "to", "must differ from 'from'").asException();
    }
    if (!from.book().equals(to.book())) {
      throw Problem.invalid(at + "to", "must be in the same book as 'from'").asException();
    }
    String currency = body.getString("currency");
    if (!currency.matches("[A-Z0-9]+")) {
      throw Problem.invalid(at + "currency", "must be of A to Z and 0 to 9").asException();
    }
    Money money = new Money(body.getLong("amount"), currency);
    boolean pending = Boolean.TRUE.equals(body.getBoolean("pending"));
    Long seconds = body.getLong("expiresSeconds");
    if (!pending && seconds != null) {
      throw Problem.invalid(at + "expiresSeconds", "is only for a pending transfer").asException();
    }
    if (!pending) {
      return new Move(from.book(), id, from.account(), to.account(), money);
    }
    Duration holdFor = seconds == null ? PENDING_FOR : Duration.ofSeconds(seconds);
    return new Reserve(from.book(), id, from.account(), to.account(), money, holdFor);
  }

  private static AccountNumber account(String field, String text) {
    return AccountNumber.find(text)
        .orElseThrow(
            () ->
                Problem.notFound("such account")
                    .with("field", field)
                    .with("account", text)
                    .asException());
  }
}
