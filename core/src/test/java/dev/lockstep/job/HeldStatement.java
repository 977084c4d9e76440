package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TcpProxy.Passage;
import dev.lockstep.testkit.TcpProxy.Tap;
import dev.lockstep.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** A way to the database on which a statement is held up until the test lets it through. */
final class HeldStatement implements AutoCloseable {
  private final TcpProxy proxy;
  private final PGSimpleDataSource dataSource = new PGSimpleDataSource();
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private volatile @Nullable String statement;

  private HeldStatement(TestDatabase database) {
    proxy = TcpProxy.to("127.0.0.1", database.server().port(), Holding::new);
    dataSource.setServerNames(new String[] {"127.0.0.1"});
    dataSource.setPortNumbers(new int[] {proxy.port()});
    dataSource.setDatabaseName(database.name());
    dataSource.setUser(database.user());
    dataSource.setPassword(database.password());
    dataSource.setSslmode("disable");
    dataSource.setGssEncMode("disable");
  }

  static HeldStatement on(TestDatabase database) {
    return new HeldStatement(database);
  }

  /** Each connection a new one, so that every statement is sent as text. */
  DataSource dataSource() {
    return dataSource;
  }

  /** Holds up whoever sends this, from now on. */
  void hold(String beginning) {
    statement = beginning;
  }

  void awaitHeld() throws InterruptedException {
    assertThat(held.await(30, TimeUnit.SECONDS)).as("held").isTrue();
  }

  void release() {
    statement = null;
    released.countDown();
  }

  @Override
  public void close() {
    release();
    proxy.close();
  }

  private final class Holding implements Tap {
    @Override
    public Passage toServer(byte[] bytes) {
      String awaited = statement;
      if (awaited != null && new String(bytes, StandardCharsets.ISO_8859_1).contains(awaited)) {
        held.countDown();
        try {
          assertThat(released.await(30, TimeUnit.SECONDS)).as("released").isTrue();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return Passage.forward(bytes);
    }
  }
}
