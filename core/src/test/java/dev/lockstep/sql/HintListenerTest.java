package dev.lockstep.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Hints are lost with their connection, and come again with the next. */
class HintListenerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final Semaphore hints = new Semaphore(0);

  @Test
  void itListensAgainWhenTheNetworkHasSwallowedItsConnection() throws Exception {
    try (TcpProxy proxy = TcpProxy.to("127.0.0.1", database.server().port());
        HintListener listener =
            new HintListener(
                Optional.of(through(proxy)),
                "some_channel",
                "listening",
                hints::release,
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

  private void awaitHint() throws InterruptedException {
    assertThat(hints.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
  }

  private static PGSimpleDataSource through(TcpProxy proxy) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {proxy.port()});
    source.setDatabaseName(database.name());
    source.setUser(database.user());
    source.setPassword(database.password());
    source.setConnectTimeout(2);
    source.setLoginTimeout(2);
    return source;
  }
}
