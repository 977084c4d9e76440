package dev.lockstep.job;

import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TcpProxy.Passage;
import dev.lockstep.testkit.TcpProxy.Tap;
import dev.lockstep.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A way to the database on which the answer to one COMMIT is lost: that of the next transaction
 * that sends the statement it is armed with. The server has committed by then.
 */
final class LostAnswer implements AutoCloseable {
  private static final String COMMITTED = "COMMIT\0";

  private final TcpProxy proxy;
  private final PGSimpleDataSource dataSource = new PGSimpleDataSource();
  private final AtomicReference<@Nullable String> armed = new AtomicReference<>();
  private volatile boolean fired;

  private LostAnswer(TestDatabase database) {
    proxy = TcpProxy.to("127.0.0.1", database.server().port(), Watching::new);
    dataSource.setServerNames(new String[] {"127.0.0.1"});
    dataSource.setPortNumbers(new int[] {proxy.port()});
    dataSource.setDatabaseName(database.name());
    dataSource.setUser(database.user());
    dataSource.setPassword(database.password());
    dataSource.setSslmode("disable");
    dataSource.setGssEncMode("disable");
    dataSource.setSocketTimeout(60);
  }

  static LostAnswer on(TestDatabase database) {
    return new LostAnswer(database);
  }

  /** Each connection a new one, so that every statement is sent as text. */
  DataSource dataSource() {
    return dataSource;
  }

  LostAnswer arm(String statement) {
    armed.set(statement);
    return this;
  }

  boolean fired() {
    return fired;
  }

  @Override
  public void close() {
    proxy.close();
  }

  private final class Watching implements Tap {
    private volatile boolean marked;

    @Override
    public Passage toServer(byte[] bytes) {
      String statement = armed.get();
      if (statement != null
          && text(bytes).contains(statement)
          && armed.compareAndSet(statement, null)) {
        marked = true;
      }
      return Passage.forward(bytes);
    }

    @Override
    public Passage toClient(byte[] bytes) {
      if (marked && text(bytes).contains(COMMITTED)) {
        fired = true;
        return Passage.cut();
      }
      return Passage.forward(bytes);
    }

    private static String text(byte[] bytes) {
      return new String(bytes, StandardCharsets.ISO_8859_1);
    }
  }
}
