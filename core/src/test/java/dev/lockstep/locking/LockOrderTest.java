package dev.lockstep.locking;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Companion;
import dev.lockstep.combine.TripWriter;
import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.hold.UnitShuffle;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewJob.UniqueKey;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerCommand.VoidPending;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.locking.LockLog.Lock;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceEntry;
import dev.lockstep.once.OnceKey;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.LockOrder.RowKind;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every kind of batch locks rows in the one order, whatever its companion adds. */
class LockOrderTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final AtomicLong LAST = new AtomicLong();
  private static final PoolId COUNTED = new PoolId(1);
  private static final PoolId UNITS = new PoolId(2);
  private static final BuyerId BUYER = new BuyerId("buyer");
  private static final Actor CLERK = Actor.operator("clerk");
  private static final AccountId WORLD = new AccountId(1);
  private static final AccountId SHOP = new AccountId(2);
  private static final Money TEN = new Money(10, "JPY");
  private static final Set<RowKind> ADDED =
      EnumSet.of(RowKind.ONCE, RowKind.OUTBOX_KEY, RowKind.JOB);

  private final ScopeId scope = new ScopeId(LAST.incrementAndGet());
  private final BookId book = new BookId(scope.value());
  private final LockLog log = new LockLog(database);
  private final Transactor transactor = new Transactor(log.on(database.dataSource()));
  private final Holds holds = new Holds(transactor);
  private final Ledger ledger = new Ledger(transactor);
  private final Once once = new Once(transactor);
  private final Outbox outbox = new Outbox(transactor);
  private final Jobs jobs = new Jobs(transactor);

  @BeforeEach
  void openEverything() {
    holds.createScope(scope, OptionalInt.of(1_000));
    holds.createPools(
        scope,
        List.of(
            NewPool.counted(COUNTED, 1_000),
            NewPool.ofUnits(UNITS, 1_000, UnitShuffle.seeded("000102030405060708090a0b0c0d0e0f"))));
    ledger.openBook(book);
    ledger.openAccounts(
        book,
        List.of(
            new NewAccount(WORLD, "World", "JPY", OptionalLong.empty()),
            new NewAccount(SHOP, "Shop", "JPY", OptionalLong.empty())));
    if (outbox.stream("stream").isEmpty()) {
      outbox.create("stream");
    }
    log.clear();
  }

  @AfterEach
  void close() {
    holds.close();
    ledger.close();
  }

  @Test
  void acquires() {
    ask(acquire());
    assertThat(locked()).containsOnly(RowKind.POOL, RowKind.UNIT, RowKind.QUOTA);
  }

  @Test
  void acquiresOfWhatIsCached() {
    for (int i = 0; i < 3; i++) {
      log.clear();
      holds.call(counted());
    }
    assertThat(locked()).containsExactlyInAnyOrder(RowKind.POOL, RowKind.QUOTA);
  }

  @Test
  void changesExtensionsAndEnds() {
    HoldId sold = held();
    HoldId released = held();
    log.clear();
    for (HoldCommand<?> command :
        List.of(
            new Change(scope, sold, List.of(Line.of(UNITS, 3)), CLERK),
            new Extend(scope, sold, Duration.ofHours(1), CLERK),
            new Confirm(scope, sold, CLERK),
            new Return(scope, sold, CLERK),
            new Release(scope, released, CLERK))) {
      ask(command);
    }
    assertThat(locked()).contains(RowKind.HOLD, RowKind.POOL, RowKind.UNIT, RowKind.QUOTA);
  }

  @Test
  void expiries() {
    HoldId hold = held();
    log.clear();
    expire("hold", "hold", hold.value());
    assertThat(holds.sweep()).isEqualTo(1);
    assertThat(locked()).containsOnly(RowKind.HOLD, RowKind.POOL, RowKind.UNIT, RowKind.QUOTA);
  }

  @Test
  void allKindsOfHoldCommandsInOneBatch() {
    expire("hold", "hold", held().value());
    HoldId sold = held();
    HoldId changed = held();
    HoldId released = held();
    log.clear();
    List<HoldCommand<?>> batch =
        List.of(
            acquire(),
            new Change(scope, changed, List.of(Line.of(COUNTED, 3)), CLERK),
            new Extend(scope, changed, Duration.ofHours(1), CLERK),
            new Confirm(scope, sold, CLERK),
            new Return(scope, sold, CLERK),
            new Release(scope, released, CLERK));
    transactor.run(
        connection -> {
          once.claim(connection, key(), Fingerprint.of("mixed"));
          holds.joinAll(connection, batch);
          write(Exchange.within(connection));
        });
    assertThat(locked()).containsAll(EnumSet.complementOf(EnumSet.of(RowKind.ACCOUNT)));
  }

  @Test
  void transfers() {
    for (int i = 0; i < 3; i++) {
      ledger.call(move());
    }
    ask(move());
    TransferId posted = reserved();
    TransferId voided = reserved();
    ask(new Post(book, posted, OptionalLong.empty()));
    ask(new VoidPending(book, voided));
    ask(new Linked(book, List.of(move(), reserve())));
    ledger.call(new Linked(book, List.of(move(), move())));
    assertThat(locked()).contains(RowKind.ACCOUNT).containsAll(ADDED);
  }

  @Test
  void expiredTransfers() {
    TransferId transfer = reserved();
    log.clear();
    expire("transfer", "transfer", transfer.value());
    assertThat(ledger.sweep()).isEqualTo(1);
    assertThat(locked()).containsOnly(RowKind.ACCOUNT);
  }

  @Test
  void allKindsOfTransfersInOneBatchAfterASale() {
    TransferId posted = reserved();
    TransferId voided = reserved();
    HoldId sold = held();
    HoldId released = held();
    log.clear();
    transactor.run(
        connection -> {
          once.claim(connection, key(), Fingerprint.of("sale"));
          holds.joinAll(
              connection,
              List.of(new Confirm(scope, sold, CLERK), new Release(scope, released, CLERK)));
          ledger.joinAll(
              connection,
              List.of(
                  move(),
                  reserve(),
                  new Post(book, posted, OptionalLong.empty()),
                  new VoidPending(book, voided),
                  new Linked(book, List.of(move(), move()))));
          write(Exchange.within(connection));
        });
    assertThat(locked()).containsAll(EnumSet.allOf(RowKind.class));
  }

  /** The check is worth something only if it sees two statements that changed places. */
  @Test
  void anyTwoLocksThatChangePlacesAreSeen() {
    allKindsOfTransfersInOneBatchAfterASale();
    List<Lock> right =
        LockLog.firstOfEachKind(log.transactions().get(0)).stream()
            .filter(lock -> lock.kind() != RowKind.UNIT)
            .toList();
    assertThat(right).hasSize(RowKind.values().length - 1);
    for (int i = 0; i + 1 < right.size(); i++) {
      List<Lock> swapped = new ArrayList<>(right);
      Collections.swap(swapped, i, i + 1);
      assertThat(LockLog.outOfOrder(swapped)).isPresent();
    }
  }

  @Test
  void aTransactionThatLocksThePoolBeforeTheHoldIsSeen() {
    HoldId hold = held();
    log.clear();
    transactor.run(
        connection -> {
          Sql.execute(connection, "SELECT 1 FROM lockstep.pool WHERE pool = 1 FOR UPDATE");
          Sql.execute(
              connection,
              "SELECT 1 FROM lockstep.hold WHERE hold = ANY (ARRAY(SELECT hold FROM lockstep.quota,"
                  + " lockstep.hold WHERE hold = ?)) FOR NO KEY UPDATE",
              hold.value());
        });
    List<Lock> locks = log.transactions().get(0);
    assertThat(locks).extracting(Lock::kind).containsExactly(RowKind.POOL, RowKind.HOLD);
    assertThat(LockLog.outOfOrder(locks)).get().asString().contains("FOR NO KEY UPDATE");
  }

  /** All kinds that were locked, after a look at the order in each transaction. */
  private Set<RowKind> locked() {
    Set<RowKind> kinds = EnumSet.noneOf(RowKind.class);
    for (List<Lock> locks : log.transactions()) {
      assertThat(LockLog.outOfOrder(locks)).as(locks.toString()).isEmpty();
      locks.forEach(lock -> kinds.add(lock.kind()));
    }
    return kinds;
  }

  /** Alone, and with a companion; in the caller's transaction the first may have gone. */
  private void ask(HoldCommand<?> command) {
    if (command instanceof Acquire) {
      holds.call(command);
      assertThat(locked()).doesNotContainAnyElementsOf(ADDED);
      log.clear();
      holds.call(acquire(), companion(), "payload");
      assertThat(locked()).containsAll(ADDED);
      log.clear();
      holds.call(acquire());
    } else {
      holds.call(command, companion(), "payload");
      assertThat(locked()).contains(RowKind.HOLD, RowKind.POOL).containsAll(ADDED);
    }
  }

  private void ask(LedgerCommand<?> command) {
    log.clear();
    Companion<String, LedgerOutcome, LedgerOutcome> companion = companion();
    ledger.call(command, companion, "payload");
    assertThat(locked()).contains(RowKind.ACCOUNT).containsAll(ADDED);
  }

  /** As the server's companions do: keys first, then events, then jobs. */
  private <O> Companion<String, O, O> companion() {
    TripWriter<String, O> writer =
        (exchange, commands) -> {
          RoundTrip trip = exchange.trip();
          once.addRecord(
              trip,
              scope.value(),
              List.of(new OnceEntry(key(), Fingerprint.of("request"), "answer")));
          exchange.defer(trip);
          write(exchange);
        };
    return writer;
  }

  private void write(Exchange exchange) throws SQLException {
    outbox.appendAll(
        exchange.connection(), List.of(NewEvent.of("stream", "key", "type", Content.json("{}"))));
    jobs.enqueueAll(
        exchange.connection(),
        List.of(
            NewJob.of("queue", "kind", "{}")
                .withUnique(UniqueKey.whileLive(UUID.randomUUID().toString()))));
  }

  private OnceKey key() {
    return new OnceKey(scope.value(), "owner", UUID.randomUUID().toString());
  }

  private HoldId held() {
    Acquire acquire = acquire();
    holds.call(acquire);
    return acquire.hold();
  }

  private Acquire acquire() {
    return Acquire.of(
        scope,
        HoldId.next(),
        BUYER,
        List.of(Line.of(COUNTED, 1), Line.of(UNITS, 2)),
        Duration.ofMinutes(5));
  }

  private Acquire counted() {
    return Acquire.of(
        scope, HoldId.next(), BUYER, List.of(Line.of(COUNTED, 1)), Duration.ofMinutes(5));
  }

  private TransferId reserved() {
    Reserve reserve = reserve();
    ledger.call(reserve);
    return reserve.id();
  }

  private Move move() {
    return new Move(book, TransferId.next(), WORLD, SHOP, TEN);
  }

  private Reserve reserve() {
    return new Reserve(book, TransferId.next(), SHOP, WORLD, TEN, Duration.ofHours(1));
  }

  private static void expire(String table, String id, UUID value) {
    database.execute(
        "UPDATE lockstep.%s SET created_at = now() - interval '1 h', expires_at = now() - interval '1 s' WHERE %s = '%s'"
            .formatted(table, id, value));
  }
}
