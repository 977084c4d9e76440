package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.RelayHealth.State;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whatever is thrown within a relay, it goes on; or it ends, says so, and others take over. */
class RelayHealthTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private volatile Supplier<Throwable> fault = () -> null;

  @Test
  void anErrorInATurnIsSurvivedAndTold() {
    post.define("sink");
    Relay relay = start();
    post.append("a");
    post.awaitDelivered(1);

    fault = () -> new AssertionError("a mistake of ours");
    Await.until("failing", () -> relay.health().state() == State.FAILING);
    assertThat(relay.health().failure().orElseThrow()).contains("a mistake of ours");
    post.append("a");
    fault = () -> null;

    post.awaitDelivered(2);
    Await.until("relaying", () -> relay.health().state() == State.RELAYING);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L);
    post.stop(relay);
    assertThat(relay.health()).isEqualTo(new RelayHealth(State.ENDED, Optional.empty()));
  }

  @Test
  void aRelayWhoseThreadEndsGivesItsPartitionsUp() {
    post.define("sink");
    Relay first = start();
    Await.until("all its own", () -> first.ownedPartitions() == Post.PARTITIONS);

    fault = FailsToSayWhatItIs::new;

    Await.until("ended", () -> first.health().state() == State.ENDED);
    assertThat(first.health().failure()).isPresent();
    Relay second = post.start();
    post.append("a");
    post.awaitDelivered(1);
    assertThat(second.health().state()).isEqualTo(State.RELAYING);
    Await.until("others' by now", () -> first.ownedPartitions() == 0);
  }

  /** So that not even the failure can be recorded. */
  private static final class FailsToSayWhatItIs extends AssertionError {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message");
    }
  }

  private Relay start() {
    SnapshotSource source = new SnapshotSource(post.transactor());
    EventSource failing =
        new EventSource() {
          @Override
          public Look look(List<ReadRequest> asks, int maxRows, int maxBytes) {
            if (fault.get() instanceof Error error) {
              throw error;
            }
            return source.look(asks, maxRows, maxBytes);
          }

          @Override
          public Backlog backlog(
              ReadRequest ask, List<BacklogRequest> keys, int maxRows, int maxBytes) {
            return source.backlog(ask, keys, maxRows, maxBytes);
          }
        };
    return post.start(
        Post.relayConfig().withCloseTimeout(Duration.ofMillis(100)), post.types(), failing);
  }
}
