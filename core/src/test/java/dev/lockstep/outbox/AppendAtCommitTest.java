package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Appending with the COMMIT of a transaction. */
class AppendAtCommitTest {
  private static final String BOOK = "INSERT INTO booked VALUES (?)";

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);
  private Transactor transactor;
  private Outbox outbox;

  @BeforeEach
  void aTableOfOurOwn() {
    database.execute(
        """
        DROP TABLE IF EXISTS booked;
        CREATE TABLE booked (n int)""");
    post.define("sink");
    transactor = post.transactor();
    outbox = new Outbox(transactor, Post.config());
  }

  @Test
  void anEventComesAfterEveryOtherStatementOfItsTransaction() {
    transactor.run(
        connection -> {
          outbox.appendAtCommit(typed("a", "at commit"));
          Sql.execute(connection, BOOK, 1);
          outbox.append(connection, typed("a", "at once"));
          assertThat(events("a")).as("not before the end").isEmpty();
        });

    assertThat(events("a")).extracting(Event::type).containsExactly("at once", "at commit");
    assertThat(booked()).isOne();
  }

  @Test
  void anEventTakesNoCrossingOfItsOwn() {
    List<String> sent = new ArrayList<>();
    Transactor counting = new Transactor(Tampered.noting(database.dataSource(), sent));
    Outbox over = new Outbox(counting, Post.config());
    counting.run(connection -> over.append(connection, post.event("a")));
    sent.clear();

    counting.run(connection -> over.appendAtCommit(post.event("a")));

    // Settings; and the event, with which COMMIT goes.
    assertThat(sent).containsExactly("prepareStatement", "prepareStatement", "commit");
  }

  @Test
  void severalAreAppendedTogetherInTheOrderOfEachKey() {
    transactor.run(
        connection -> {
          outbox.appendAtCommit(typed("b", "1"));
          outbox.appendAtCommit(typed("a", "2"));
          outbox.appendAtCommit(typed("b", "3"));
        });

    assertThat(events("b")).extracting(Event::type).containsExactly("1", "3");
    assertThat(events("a")).extracting(Event::type).containsExactly("2");
  }

  @Test
  void theSequenceIsDenseAndInCommitOrderWhoeverWritesAndWhateverIsRolledBack() throws Exception {
    int writers = 8;
    int rounds = 20;
    Relay relay = post.start();

    Race.<Boolean>of(writers)
        .run(
            writer -> {
              Random random = new Random(writer);
              for (int i = 0; i < rounds; i++) {
                List<String> keys = new ArrayList<>(List.of("a", "b", "c"));
                Collections.shuffle(keys, random);
                List<String> some = keys.subList(0, 1 + i % 3);
                // Whether by itself or together, whether it comes about or not.
                bookUnlessRefused(some, i % 4 == 3);
              }
              return true;
            })
        .valuesOrThrow();

    post.awaitDelivered(events("a").size() + events("b").size() + events("c").size());
    post.stop(relay);
    assertThat(booked()).isEqualTo(3L * writers * rounds / 4);
    for (String key : List.of("a", "b", "c")) {
      List<Long> expected = LongStream.rangeClosed(1, events(key).size()).boxed().toList();
      assertThat(events(key)).extracting(Event::seq).containsExactlyElementsOf(expected);
      assertThat(post.sink.seqs(key)).containsExactlyElementsOf(expected);
    }
  }

  private void bookUnlessRefused(List<String> keys, boolean refused) {
    try {
      transactor.run(
          connection -> {
            keys.forEach(key -> outbox.appendAtCommit(post.event(key)));
            Sql.execute(connection, BOOK, 1);
            if (refused) {
              throw new IllegalStateException("refused");
            }
          });
    } catch (IllegalStateException e) {
      assertThat(refused).isTrue();
    }
  }

  @Test
  void theKeyIsLockedByTheCommitAloneAndWhatFailsThereCommitsNothing() throws Exception {
    post.append("a");
    try (Connection other = database.connection()) {
      other.setAutoCommit(false);
      Sql.execute(other, "SELECT FROM lockstep.outbox_key WHERE key = 'a' FOR UPDATE");

      assertThatThrownBy(
              () ->
                  transactor.run(
                      TxOptions.DEFAULT.withLockTimeout(Duration.ofMillis(20)),
                      connection -> {
                        outbox.appendAtCommit(post.event("a"));
                        Sql.execute(connection, BOOK, 1);
                      }))
          .isInstanceOf(LockTimeout.class);
      other.rollback();
    }
    assertThat(booked()).isZero();
    assertThat(events("a")).hasSize(1);
  }

  @Test
  void anEventThatCannotBeAppendedKeepsItsTransactionFromCommitting() {
    Outbox small = new Outbox(transactor, Post.config().withMaxContentBytes(1));

    assertThatIllegalArgumentException()
        .isThrownBy(() -> book(small, post.event("a")))
        .withMessageContaining("1 bytes, this one 2");
    NewEvent nowhere = NewEvent.of("nobody", "a", "t", Content.json("{}"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> book(outbox, nowhere))
        .withMessageContaining("No stream 'nobody'");
    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      Sql.execute(connection, BOOK, 1);
                      assertThatIllegalArgumentException()
                          .isThrownBy(() -> outbox.appendAtCommit(nowhere));
                    }))
        .as("swallowed")
        .isInstanceOf(TransactionDoomed.class);
    assertThat(booked()).isZero();
    assertThat(events("a")).isEmpty();
  }

  private void book(Outbox by, NewEvent event) {
    transactor.run(
        connection -> {
          Sql.execute(connection, BOOK, 1);
          by.appendAtCommit(event);
        });
  }

  @Test
  void aTransactionTakesOnlySoMany() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      for (int i = 0; i <= Outbox.MAX_BATCH; i++) {
                        outbox.appendAtCommit(post.event("a"));
                      }
                    }))
        .withMessageContaining("10000");
    assertThat(events("a")).isEmpty();
  }

  @Test
  void thereHasToBeATransactionThatMayWrite() {
    assertThatIllegalStateException().isThrownBy(() -> outbox.appendAtCommit(post.event("a")));
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                transactor.run(
                    TxOptions.DEFAULT.asReadOnly(),
                    connection -> outbox.appendAtCommit(post.event("a"))));
  }

  @Test
  void inATransactionOfTheCallersItIsAppendedWhenTheCallerGoesOn() throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      transactor.runJoined(connection, c -> outbox.appendAtCommit(post.event("theirs")));
      assertThat(
              Sql.query(
                  connection, "SELECT count(*) FROM lockstep.outbox_event WHERE key = 'theirs'"))
          .isOne();
      connection.rollback();
    }
    assertThat(events("theirs")).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aConnectionLostInTheCommitLosesEventAndEffectTogetherOrNeither(Moment moment) {
    try (CommitFault fault = CommitFault.on(database)) {
      Transactor faulty = new Transactor(fault.dataSource());
      Outbox over = new Outbox(faulty, Post.config());
      // So that its id is known, and nothing but the last trip goes with the COMMIT.
      faulty.run(connection -> over.append(connection, post.event("a")));
      fault.arm(moment);

      assertThatThrownBy(() -> faulty.run(connection -> bookAtCommit(connection, over)))
          .isInstanceOf(OutcomeUnknown.class);

      long effects = moment == Moment.AFTER_COMMIT ? 1 : 0;
      assertThat(booked()).isEqualTo(effects);
      assertThat(events("a")).hasSize(1 + (int) effects);
      fault.arm(moment);
      faulty.call(
          TxOptions.DEFAULT,
          connection -> bookAtCommit(connection, over),
          connection ->
              Sql.query(connection, "SELECT count(*) FROM booked") == effects
                  ? Optional.<Boolean>empty()
                  : Optional.of(true));
      assertThat(fault.fired()).isTrue();
      assertThat(booked()).as("once, by the lookup").isEqualTo(effects + 1);
      assertThat(events("a")).hasSize(2 + (int) effects);
    }
  }

  @Test
  void aConnectionLostWhileTheCommitWaitsForTheKeyLosesEventAndEffectTogetherOrNeither()
      throws Exception {
    String waiting =
        """
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0""";
    post.append("a");
    try (CommitFault fault = CommitFault.on(database);
        Connection other = database.connection()) {
      Transactor cut = new Transactor(fault.dataSource());
      Outbox over = new Outbox(cut, Post.config());
      other.setAutoCommit(false);
      Sql.execute(other, "SELECT FROM lockstep.outbox_key WHERE key = 'a' FOR UPDATE");
      CompletableFuture<Throwable> told =
          CompletableFuture.supplyAsync(
              () -> catchThrowable(() -> cut.run(connection -> bookAtCommit(connection, over))));
      Await.blocked(database, 1);
      long pid = database.queryLong(waiting);
      fault.proxy().cut();

      assertThat(told.get(1, TimeUnit.MINUTES)).isInstanceOf(OutcomeUnknown.class);
      assertThat(booked()).isZero();
      other.rollback();
      Await.until(
          "the server is through with it",
          () ->
              database.queryLong("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
    }
    assertThat(events("a")).hasSize(1 + (int) booked());
    assertThat(booked()).isLessThanOrEqualTo(1);
  }

  private boolean bookAtCommit(Connection connection, Outbox by) throws SQLException {
    by.appendAtCommit(post.event("a"));
    Sql.execute(connection, BOOK, 1);
    return true;
  }

  private NewEvent typed(String key, String type) {
    return NewEvent.of(post.stream, key, type, Content.json("{}"));
  }

  /** On a Transactor of its own, so that it sees what is committed. */
  private List<Event> events(String key) {
    return post.outbox().events(post.stream, key, 0, 1000);
  }

  private static long booked() {
    return database.queryLong("SELECT count(*) FROM booked");
  }
}
