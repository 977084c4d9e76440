package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a process knows of the database, and what becomes of it when that is no longer true. */
class RememberedStreamsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final Transactor transactor = post.transactor();
  private final Outbox outbox = new Outbox(transactor, Post.config());

  @AfterEach
  void restore() {
    database.execute("UPDATE lockstep.outbox_layout SET partitions = " + Post.PARTITIONS);
  }

  private void append() {
    transactor.run(connection -> outbox.append(connection, post.event("a")));
  }

  private void appendAtCommit() {
    transactor.run(connection -> outbox.appendAtCommit(post.event("a")));
  }

  private void appendTwo() {
    List<NewEvent> two = List.of(post.event("a"), post.event("b"));
    transactor.run(connection -> outbox.appendAll(connection, two));
  }

  private static long events() {
    return database.queryLong("SELECT count(*) FROM lockstep.outbox_event");
  }

  private void defineAndAppendInATransactionThatRollsBack() {
    Throwable thrown =
        catchThrowable(
            () ->
                transactor.run(
                    connection -> {
                      outbox.create(post.stream);
                      outbox.append(connection, post.event("a"));
                      outbox.appendAtCommit(post.event("a"));
                      throw new IllegalStateException("rolls back");
                    }));
    assertThat(thrown).hasMessage("rolls back");
  }

  @Test
  void aStreamThatWasRolledBackIsNotThereForAnybody() {
    defineAndAppendInATransactionThatRollsBack();
    long before = events();

    assertThatIllegalArgumentException().isThrownBy(this::append).withMessageContaining("stream");
    assertThatIllegalArgumentException().isThrownBy(this::appendAtCommit);
    assertThatIllegalArgumentException().isThrownBy(this::appendTwo);
    assertThat(events()).isEqualTo(before);
  }

  @Test
  void aStreamThatIsMadeAgainAfterARollbackGetsItsEvents() {
    defineAndAppendInATransactionThatRollsBack();
    post.outbox().create("another-" + post.stream);
    post.outbox().create(post.stream);

    append();
    appendAtCommit();
    appendTwo();

    assertThat(outbox.events(post.stream, "a", 0, 10))
        .extracting(Event::seq)
        .containsExactly(1L, 2L, 3L);
    assertThat(outbox.events("another-" + post.stream, "a", 0, 10)).isEmpty();
  }

  @Test
  void aStreamThatIsGoneWithTheDatabaseItWasInIsRefusedByTheStatementItself() {
    outbox.create(post.stream);
    append();
    long before = events();
    database.execute("DELETE FROM lockstep.outbox_stream WHERE name = '" + post.stream + "'");

    assertThatExceptionOfType(ConstraintViolated.class)
        .isThrownBy(this::appendAtCommit)
        .withMessageContaining(post.stream);
    assertThatIllegalArgumentException().isThrownBy(this::append);
    assertThat(events()).isEqualTo(before);
  }

  @Test
  void aBatchForAStreamThatIsGoneIsRefusedByTheStatementItself() {
    outbox.create(post.stream);
    append();
    long before = events();
    database.execute("DELETE FROM lockstep.outbox_stream WHERE name = '" + post.stream + "'");

    assertThatExceptionOfType(ConstraintViolated.class).isThrownBy(this::appendTwo);
    assertThat(events()).isEqualTo(before);
  }

  @Test
  void aProcessWithAnotherNumberOfPartitionsIsRefusedWithBothNumbers() {
    OutboxConfig other = Post.config().withPartitions(7);

    assertThatIllegalStateException()
        .isThrownBy(() -> new Outbox(transactor, other))
        .withMessageContaining("has " + Post.PARTITIONS)
        .withMessageContaining("for 7");
  }

  @Test
  void theNumberOfPartitionsIsCheckedWithTheFirstAppendToo() {
    outbox.create(post.stream);
    long before = events();
    // The process goes on with another database than the one it began with.
    database.execute("UPDATE lockstep.outbox_layout SET partitions = 9");

    assertThatIllegalStateException()
        .isThrownBy(this::append)
        .withMessageContaining("has 9")
        .withMessageContaining("for " + Post.PARTITIONS);
    assertThat(events()).isEqualTo(before);
  }

  @Test
  void noAppendGetsPastAnotherNumberOfPartitions() {
    outbox.create(post.stream);
    append();
    long before = events();
    database.execute("UPDATE lockstep.outbox_layout SET partitions = 9");

    assertThatExceptionOfType(ConstraintViolated.class)
        .isThrownBy(this::append)
        .withMessageContaining("partitions");
    assertThatIllegalStateException().isThrownBy(this::appendTwo);
    assertThat(events()).isEqualTo(before);
  }
}
