package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.outbox.Receipt.Accepted;
import dev.lockstep.outbox.Receipt.Missing;
import dev.lockstep.outbox.Receipt.Repeated;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The consumer's side. */
class InboxTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final Transactor transactor =
      new Transactor(database.dataSource(), Await.PATIENTLY, attempt -> {});

  private static ReceivedEvent event(String key, long seq) {
    return new ReceivedEvent("trades", key, seq);
  }

  private Receipt receive(Inbox inbox, ReceivedEvent event) {
    return transactor.call(connection -> inbox.receive(connection, event));
  }

  @Test
  void anEventIsAcceptedOnceARepeatIsDroppedAndAGapIsSeen() {
    Inbox inbox = new Inbox(transactor, "one");

    assertThat(receive(inbox, event("a", 1))).isEqualTo(new Accepted());
    assertThat(receive(inbox, event("a", 1))).isEqualTo(new Repeated(1));
    assertThat(receive(inbox, event("a", 3))).isEqualTo(new Missing(2));
    assertThat(receive(inbox, event("a", 2))).isEqualTo(new Accepted());
    assertThat(receive(inbox, event("a", 3))).isEqualTo(new Accepted());
    assertThat(receive(inbox, event("b", 2))).isEqualTo(new Missing(1));
    assertThat(receive(new Inbox(transactor, "another"), event("a", 1))).isEqualTo(new Accepted());
  }

  @Test
  void aBatchIsDecidedInItsOrder() {
    Inbox inbox = new Inbox(transactor, "batch");

    List<Receipt> receipts =
        transactor.call(
            connection ->
                inbox.receiveAll(
                    connection,
                    List.of(
                        event("b", 1),
                        event("a", 1),
                        event("b", 2),
                        event("b", 1),
                        event("a", 3))));
    assertThat(receipts)
        .containsExactly(
            new Accepted(), new Accepted(), new Accepted(), new Repeated(2), new Missing(2));
    assertThat(receive(inbox, event("b", 3))).isEqualTo(new Accepted());
  }

  @Test
  void aRollbackTakesTheNoteBackWithTheEffect() throws Exception {
    Inbox inbox = new Inbox(transactor, "rollback");
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      assertThat(inbox.receive(connection, event("a", 1))).isEqualTo(new Accepted());
      connection.rollback();
    }
    assertThat(receive(inbox, event("a", 1))).isEqualTo(new Accepted());
  }

  @Test
  void ofConsumersThatGetTheSameEventAtOnceOneHasTheEffect() throws Exception {
    Inbox inbox = new Inbox(transactor, "race");

    assertThat(Race.<Receipt>of(8).run(caller -> receive(inbox, event("a", 1))).valuesOrThrow())
        .containsOnlyOnce(new Accepted());
  }

  @Test
  void whoeverGetsAnEventThatAnotherHasUnderWayWaitsForTheOutcome() throws Exception {
    Inbox inbox = new Inbox(transactor, "wait");
    receive(inbox, event("a", 1));
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      // As far as somebody is who has read what came last and has not yet noted what is next.
      Sql.execute(
          connection, "SELECT FROM lockstep.outbox_inbox WHERE consumer = 'wait' FOR UPDATE");
      Background<Receipt> other = Background.start(() -> receive(inbox, event("a", 2)));
      Await.blocked(database, 1);
      assertThat(inbox.receive(connection, event("a", 2))).isEqualTo(new Accepted());
      connection.commit();

      assertThat(other.result()).isEqualTo(new Repeated(2));
    }
  }

  @Test
  void aConsumerMayBeginInTheMiddle() {
    Inbox inbox = new Inbox(transactor, "middle");
    transactor.run(connection -> inbox.expect(connection, event("a", 7)));

    assertThat(receive(inbox, event("a", 6))).isEqualTo(new Repeated(6));
    assertThat(receive(inbox, event("a", 7))).isEqualTo(new Accepted());
  }

  @Test
  void sequencesBeginWithOne() {
    assertThatIllegalArgumentException().isThrownBy(() -> event("a", 0));
  }
}
