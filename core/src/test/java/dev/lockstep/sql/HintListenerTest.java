package dev.lockstep.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Hints are lost with their connection, and come again with the next. */
class HintListenerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final BlockingQueue<Set<String>> hints = new LinkedBlockingQueue<>();

  @Test
  void itListensAgainWhenTheNetworkHasSwallowedItsConnection() throws Exception {
    try (TcpProxy proxy = TcpProxy.to("127.0.0.1", database.server().port());
        HintListener listener =
            new HintListener(
                Optional.of(through(proxy)),
                "some_channel",
                "listening",
                hints::add,
                Duration.ofMillis(1))) {
      listener.start();
      awaitHint();

      proxy.swallow();
      // Without an end, and without an answer: it is found out, and given up.
      Await.until("it tries another", () -> proxy.connections() > 1);
      proxy.deliver();
      awaitHint();
      database.execute("NOTIFY some_channel");
      awaitHint();
    }
  }

  @Test
  void aHintHasThePayloadsAndTheFirstHasNone() throws Exception {
    try (HintListener listener =
        new HintListener(
            Optional.of(direct(database.server().port())), "others", "listening", hints::add)) {
      listener.start();
      assertThat(awaitHint()).isEmpty();

      database.execute(
          "BEGIN; NOTIFY others, 'one'; NOTIFY others, 'two'; NOTIFY others, 'one'; COMMIT");
      Set<String> told = new TreeSet<>(awaitHint());
      while (told.size() < 2) {
        told.addAll(awaitHint());
      }
      assertThat(told).containsExactly("one", "two");
    }
  }

  private Set<String> awaitHint() throws InterruptedException {
    return Objects.requireNonNull(hints.poll(60, TimeUnit.SECONDS), "no hint came");
  }

  private static PGSimpleDataSource through(TcpProxy proxy) {
    return direct(proxy.port());
  }

  private static PGSimpleDataSource direct(int port) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {port});
    source.setDatabaseName(database.name());
    source.setUser(database.user());
    source.setPassword(database.password());
    source.setConnectTimeout(2);
    source.setLoginTimeout(2);
    return source;
  }
}
