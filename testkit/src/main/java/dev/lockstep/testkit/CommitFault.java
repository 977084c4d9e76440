package dev.lockstep.testkit;

import dev.lockstep.testkit.MessageStream.Message;
import dev.lockstep.testkit.TcpProxy.Passage;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Loses a connection at a chosen moment of a commit, after which a client cannot know the outcome.
 *
 * <pre>{@code
 * try (CommitFault fault = CommitFault.on(database)) {
 *   fault.arm(CommitFault.Moment.AFTER_COMMIT);
 *   transferMoney(fault.dataSource()); // gets an SQLException, and the money has moved
 * }
 * }</pre>
 *
 * <p>Deterministic: it reads the protocol and acts on the COMMIT itself. The client sees the loss
 * only after the server has ended the session, so the outcome is final by then. It sees explicit
 * commits ({@code Connection.commit()}, {@code COMMIT}), not those of autocommit. Thread-safe.
 */
public final class CommitFault implements AutoCloseable {

  private static final Duration AWAIT_TIMEOUT = Duration.ofSeconds(30);
  private static final int SOCKET_TIMEOUT_SECONDS = 60;
  private static final byte COMMAND_COMPLETE = 'C';

  /** When the connection is lost. All three look the same to the client. */
  public enum Moment {
    /** The COMMIT does not reach the server: rolled back. */
    BEFORE_COMMIT,
    /** Half of the COMMIT's bytes reach the server: rolled back. */
    DURING_COMMIT,
    /** The server commits, and its answer is lost. */
    AFTER_COMMIT
  }

  private record Arming(Moment moment, CompletableFuture<Void> fired) {
    Arming(Moment moment) {
      this(moment, new CompletableFuture<>());
    }
  }

  private final TcpProxy proxy;
  private final PGSimpleDataSource dataSource;
  private final AtomicReference<@Nullable Arming> armed = new AtomicReference<>();
  private volatile CompletableFuture<Void> lastFired = new CompletableFuture<>();

  private CommitFault(TestDatabase database) {
    this.proxy = TcpProxy.to("127.0.0.1", database.server().port(), CommitTap::new);
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {proxy.port()});
    source.setDatabaseName(database.name());
    source.setUser(database.user());
    source.setPassword(database.password());
    // The proxy cannot read encrypted traffic.
    source.setSslmode("disable");
    source.setGssEncMode("disable");
    source.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
    this.dataSource = source;
  }

  /** A connection path to the database; harmless until armed. */
  public static CommitFault on(TestDatabase database) {
    return new CommitFault(database);
  }

  /** Unpooled connections through the fault. */
  public DataSource dataSource() {
    return dataSource;
  }

  /** The proxy underneath, for other faults on the same path. */
  public TcpProxy proxy() {
    return proxy;
  }

  /**
   * Arms the fault for the next COMMIT on any connection, and only that one. Arming again replaces
   * the fault.
   */
  public synchronized void arm(Moment moment) {
    Arming arming = new Arming(moment);
    lastFired = arming.fired();
    armed.set(arming);
  }

  /** Whether the last armed fault has struck and the server has ended the session. */
  public boolean fired() {
    return lastFired.isDone();
  }

  /** Completes when {@link #fired} becomes true, for the last armed fault. */
  public CompletableFuture<Void> firedFuture() {
    return lastFired;
  }

  /**
   * Waits until {@link #fired}.
   *
   * @throws AssertionError after 30 seconds
   */
  public void awaitFired() throws InterruptedException {
    try {
      lastFired.get(AWAIT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      throw new AssertionError("no commit met the fault", e);
    }
  }

  @Override
  public void close() {
    proxy.close();
  }

  /** Takes the armed fault if it is for one of these moments; only one connection can. */
  private @Nullable Arming take(Set<Moment> moments) {
    Arming candidate = armed.get();
    boolean taken =
        candidate != null
            && moments.contains(candidate.moment())
            && armed.compareAndSet(candidate, null);
    return taken ? candidate : null;
  }

  /** Watches one connection. Each direction has its own thread and state; they share what fired. */
  private final class CommitTap implements TcpProxy.Tap {

    private final MessageStream fromClient = MessageStream.fromClient();
    private final MessageStream fromServer = MessageStream.fromServer();
    private final CommitRecogniser recogniser = new CommitRecogniser();
    private volatile @Nullable Arming struck;

    @Override
    public Passage toServer(byte[] bytes) {
      ByteArrayOutputStream through = new ByteArrayOutputStream();
      for (Message message : fromClient.add(bytes)) {
        if (recogniser.isCommit(message)) {
          Arming arming = take(Set.of(Moment.BEFORE_COMMIT, Moment.DURING_COMMIT));
          if (arming != null) {
            struck = arming;
            if (arming.moment() == Moment.DURING_COMMIT) {
              through.writeBytes(Arrays.copyOf(message.bytes(), message.bytes().length / 2));
            }
            return Passage.finishThenCut(through.toByteArray());
          }
        }
        through.writeBytes(message.bytes());
      }
      return Passage.forward(through.toByteArray());
    }

    /** The server answers COMMIT of a failed transaction with ROLLBACK, which does not count. */
    @Override
    public Passage toClient(byte[] bytes) {
      ByteArrayOutputStream through = new ByteArrayOutputStream();
      for (Message message : fromServer.add(bytes)) {
        if (message.type() == COMMAND_COMPLETE && message.strings(1).get(0).equals("COMMIT")) {
          Arming arming = take(Set.of(Moment.AFTER_COMMIT));
          if (arming != null) {
            struck = arming;
            return Passage.finishThenCut(through.toByteArray());
          }
        }
        through.writeBytes(message.bytes());
      }
      return Passage.forward(through.toByteArray());
    }

    @Override
    public void serverDone() {
      Arming arming = struck;
      if (arming != null) {
        arming.fired().complete(null);
      }
    }
  }
}
