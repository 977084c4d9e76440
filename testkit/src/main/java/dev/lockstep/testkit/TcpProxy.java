package dev.lockstep.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A proxy that misbehaves on request: slow, silent, lossy, cut or refusing. It listens on a free
 * loopback port and forwards to one target.
 *
 * <p>A change applies to bytes that arrive after it; {@link #cut} returns when the connections are
 * gone. Thread-safe. Closing ends all connections and takes at most a few seconds.
 */
public final class TcpProxy implements AutoCloseable {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
  private static final Tap UNTOUCHED = new Tap() {};

  /**
   * Inspects one connection's bytes and decides on them. Each direction calls it from its own
   * thread, in order.
   */
  public interface Tap {
    /** Bytes from the client, on their way to the server. */
    default Passage toServer(byte[] bytes) {
      return Passage.forward(bytes);
    }

    /** Bytes from the server, on their way to the client. */
    default Passage toClient(byte[] bytes) {
      return Passage.forward(bytes);
    }

    /** The server has closed its side, so its work is done; the client does not know yet. */
    default void serverDone() {}
  }

  /** What to do with some bytes, and then with their connection. */
  public static final class Passage {

    enum Then {
      CONTINUE,
      CUT,
      LEAVE,
      FINISH_THEN_CUT
    }

    private final byte[] bytes;
    private final Then then;

    private Passage(byte[] bytes, Then then) {
      this.bytes = bytes;
      this.then = then;
    }

    /** Forwards these bytes and continues. */
    public static Passage forward(byte[] bytes) {
      return new Passage(bytes, Then.CONTINUE);
    }

    /** Resets both sides. */
    public static Passage cut() {
      return new Passage(new byte[0], Then.CUT);
    }

    /**
     * Forwards these bytes and nothing after them, and resets the client at once. The server works
     * on what it has; only then does it see that its client has closed.
     */
    public static Passage forwardThenLeave(byte[] bytes) {
      return new Passage(bytes, Then.LEAVE);
    }

    /**
     * Forwards these bytes and nothing after them. The server sees its client close; once the
     * server has closed its side, the client is reset.
     */
    public static Passage finishThenCut(byte[] bytes) {
      return new Passage(bytes, Then.FINISH_THEN_CUT);
    }

    byte[] bytes() {
      return bytes;
    }

    Then then() {
      return then;
    }
  }

  private final InetSocketAddress target;
  private final Supplier<? extends Tap> taps;
  private final ServerSocket listener;
  private final Thread acceptor;
  private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private boolean stalled;
  private boolean swallowing;
  private boolean refusing;
  private boolean closed;
  private long delayNanos;

  private TcpProxy(InetSocketAddress target, Supplier<? extends Tap> taps) throws IOException {
    this.target = target;
    this.taps = taps;
    this.listener = new ServerSocket(0, 0, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    this.acceptor = new Thread(this::acceptAll, "tcp-proxy-" + listener.getLocalPort());
    this.acceptor.setDaemon(true);
  }

  /** Forwards to the target unchanged, until told otherwise. */
  public static TcpProxy to(String host, int port) {
    return to(host, port, () -> UNTOUCHED);
  }

  /**
   * Forwards to the target and passes the bytes through a tap.
   *
   * @param taps makes one per connection
   */
  public static TcpProxy to(String host, int port, Supplier<? extends Tap> taps) {
    try {
      TcpProxy proxy = new TcpProxy(new InetSocketAddress(host, port), taps);
      proxy.acceptor.start();
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where it listens, on 127.0.0.1. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Connections open now. */
  public int connections() {
    return connections.size();
  }

  /** Delays each chunk, in each direction, by this long. Zero ends it. */
  public void delay(Duration delay) {
    change(() -> delayNanos = delay.toNanos());
  }

  /**
   * Holds everything back: connections are accepted and stay open, but nothing passes until {@link
   * #resume}.
   */
  public void stall() {
    change(() -> stalled = true);
  }

  /** Ends {@link #stall} and forwards what was held back. */
  public void resume() {
    change(() -> stalled = false);
  }

  /**
   * Loses everything: bytes that arrive from now on are discarded, both ways, without notice. A
   * connection that has lost bytes stays silent for ever.
   */
  public void swallow() {
    change(() -> swallowing = true);
  }

  /** Ends {@link #swallow} for connections that have lost nothing, and for new ones. */
  public void deliver() {
    change(() -> swallowing = false);
  }

  /** Resets new connections at once; open ones go on. */
  public void refuse() {
    change(() -> refusing = true);
  }

  /** Ends {@link #refuse}. */
  public void accept() {
    change(() -> refusing = false);
  }

  /**
   * Resets all connections, on both sides.
   *
   * @return how many there were
   */
  public int cut() {
    int count = 0;
    for (ProxyConnection connection : connections) {
      connection.reset();
      count++;
    }
    return count;
  }

  @Override
  public void close() {
    change(() -> closed = true);
    try {
      listener.close();
      cut();
      acceptor.join(CLOSE_TIMEOUT.toMillis());
      // A connection may have been accepted meanwhile.
      cut();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Holds a chunk back while the proxy is delayed or stalled.
   *
   * @return false if the connection ended meanwhile; drop the chunk
   */
  boolean passGate(ProxyConnection connection) throws InterruptedException {
    guard.lock();
    try {
      long left = delayNanos;
      while (!closed && !connection.isReset() && (stalled || left > 0)) {
        if (stalled) {
          changed.await();
        } else {
          left = changed.awaitNanos(left);
        }
      }
      return !closed && !connection.isReset();
    } finally {
      guard.unlock();
    }
  }

  boolean swallows() {
    guard.lock();
    try {
      return swallowing;
    } finally {
      guard.unlock();
    }
  }

  /** Called by a connection once, at its end. */
  void ended(ProxyConnection connection) {
    connections.remove(connection);
    change(() -> {});
  }

  private void change(Runnable change) {
    guard.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      guard.unlock();
    }
  }

  private boolean admits() {
    guard.lock();
    try {
      return !refusing && !closed;
    } finally {
      guard.unlock();
    }
  }

  private void acceptAll() {
    while (!listener.isClosed()) {
      try {
        open(listener.accept());
      } catch (IOException e) {
        // The listener was closed, or a client left early: the others are unaffected.
      }
    }
  }

  private void open(Socket client) throws IOException {
    if (!admits()) {
      ProxyConnection.reset(client);
      return;
    }
    Socket server = new Socket();
    try {
      server.connect(target, (int) CONNECT_TIMEOUT.toMillis());
    } catch (IOException e) {
      ProxyConnection.reset(client);
      server.close();
      return;
    }
    ProxyConnection connection = new ProxyConnection(this, client, server, taps.get());
    connections.add(connection);
    connection.start();
  }
}
