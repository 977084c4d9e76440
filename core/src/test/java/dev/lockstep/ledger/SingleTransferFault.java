package dev.lockstep.ledger;

import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TcpProxy.Passage;
import dev.lockstep.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** A connection lost around a statement that commits itself: there is no COMMIT to be lost. */
final class SingleTransferFault implements AutoCloseable {
  private final TcpProxy proxy;
  private final PGSimpleDataSource dataSource = new PGSimpleDataSource();
  private final AtomicReference<@Nullable Moment> armed = new AtomicReference<>();
  private volatile boolean fired;

  SingleTransferFault(TestDatabase database) {
    proxy = TcpProxy.to("127.0.0.1", database.server().port(), Tap::new);
    dataSource.setServerNames(new String[] {"127.0.0.1"});
    dataSource.setPortNumbers(new int[] {proxy.port()});
    dataSource.setDatabaseName(database.name());
    dataSource.setUser(database.user());
    dataSource.setPassword(database.password());
    dataSource.setSslmode("disable");
    dataSource.setGssEncMode("disable");
  }

  /** Each connection is a new one, and so sends the statement's text. */
  DataSource dataSource() {
    return dataSource;
  }

  void arm(Moment moment) {
    armed.set(moment);
  }

  boolean fired() {
    return fired;
  }

  @Override
  public void close() {
    proxy.close();
  }

  private final class Tap implements TcpProxy.Tap {
    private volatile boolean loseAnswer;
    private volatile boolean struck;

    @Override
    public Passage toServer(byte[] bytes) {
      boolean moves = new String(bytes, StandardCharsets.ISO_8859_1).contains("lockstep.move(");
      Moment moment = moves ? armed.getAndSet(null) : null;
      if (moment == Moment.AFTER_COMMIT) {
        loseAnswer = true;
      } else if (moment != null) {
        struck = true;
        int through = moment == Moment.BEFORE_COMMIT ? 0 : bytes.length / 2;
        return Passage.finishThenCut(Arrays.copyOf(bytes, through));
      }
      return Passage.forward(bytes);
    }

    @Override
    public Passage toClient(byte[] bytes) {
      if (loseAnswer) {
        struck = true;
        return Passage.finishThenCut(new byte[0]);
      }
      return Passage.forward(bytes);
    }

    @Override
    public void serverDone() {
      fired |= struck;
    }
  }
}
