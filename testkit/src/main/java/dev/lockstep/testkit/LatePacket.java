package dev.lockstep.testkit;

import dev.lockstep.testkit.MessageStream.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A network that holds one packet back: the client loses its connection, and the server gets the
 * packet when the test says so. The server's session stays open meanwhile.
 *
 * <pre>{@code
 * try (LatePacket network = LatePacket.on(database)) {
 *   network.arm();
 *   sell(network.dataSource()); // its first packet is held back; it tries again
 *   network.deliver(); // the server runs what the client gave up long ago
 * }
 * }</pre>
 *
 * <p>A packet is everything up to the client's Sync, starting with the connection's first statement
 * that is not a driver setting. Thread-safe.
 */
public final class LatePacket implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 30;
  private static final int CHUNK_BYTES = 16 * 1024;

  /** The packet held back, and its session. */
  private record Kept(Socket server, ByteArrayOutputStream packet, List<String> statements) {}

  private final int serverPort;
  private final ServerSocket listener;
  private final PGSimpleDataSource dataSource = new PGSimpleDataSource();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable CompletableFuture<Kept>> armed = new AtomicReference<>();
  private volatile CompletableFuture<Kept> kept = new CompletableFuture<>();

  private LatePacket(TestDatabase database) throws IOException {
    serverPort = database.server().port();
    listener = new ServerSocket(0, 0, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    dataSource.setServerNames(new String[] {"127.0.0.1"});
    dataSource.setPortNumbers(new int[] {listener.getLocalPort()});
    dataSource.setDatabaseName(database.name());
    dataSource.setUser(database.user());
    dataSource.setPassword(database.password());
    dataSource.setSslmode("disable");
    dataSource.setGssEncMode("disable");
  }

  /** A connection path to the database; harmless until armed. */
  public static LatePacket on(TestDatabase database) {
    try {
      LatePacket network = new LatePacket(database);
      start("late-packet", network::acceptAll);
      return network;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Unpooled connections over this network. */
  public DataSource dataSource() {
    return dataSource;
  }

  /** Holds back the first packet of the next connection that sends one, and only that one. */
  public void arm() {
    CompletableFuture<Kept> next = new CompletableFuture<>();
    kept = next;
    armed.set(next);
  }

  /** Whether a packet was held back and its client has lost the connection. */
  public boolean hasKept() {
    return kept.isDone();
  }

  /** Waits for a packet and returns its statements, in order. */
  public List<String> awaitKept() {
    return await(kept).statements();
  }

  /** Gives the server the packet, and returns when it has answered and ended the session. */
  public void deliver() {
    Kept late = await(kept);
    try (Socket server = late.server()) {
      late.packet().writeTo(server.getOutputStream());
      server.getOutputStream().flush();
      server.shutdownOutput();
      // The answers are not needed.
      server.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    closeQuietly(listener);
    sockets.forEach(LatePacket::closeQuietly);
  }

  private void acceptAll() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
        sockets.add(client);
        sockets.add(server);
        Session session = new Session(client, server);
        start("late-packet-to-server", session::toServer);
        start("late-packet-to-client", session::toClient);
      } catch (IOException e) {
        // Closed, or the database is down: the client notices.
      }
    }
  }

  private static void start(String name, Runnable body) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static <T> T await(CompletableFuture<T> future) {
    try {
      return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError("no packet was held back within 30 s", e);
    }
  }

  private static void closeQuietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception e) {
      // Nothing is left to close.
    }
  }

  /** One client and its session. */
  private final class Session {
    private final Socket client;
    private final Socket server;
    private final MessageStream messages = MessageStream.fromClient();

    Session(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void toServer() {
      try {
        InputStream in = client.getInputStream();
        byte[] buffer = new byte[CHUNK_BYTES];
        CompletableFuture<Kept> keeping = null;
        ByteArrayOutputStream back = new ByteArrayOutputStream();
        List<String> statements = new ArrayList<>();
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          for (Message message : messages.add(Arrays.copyOf(buffer, n))) {
            String sql = sqlOf(message);
            // Drivers begin with a few settings.
            if (keeping == null && sql != null && !sql.startsWith("SET ")) {
              keeping = armed.getAndSet(null);
            }
            if (keeping == null) {
              server.getOutputStream().write(message.bytes());
              continue;
            }
            back.writeBytes(message.bytes());
            if (sql != null) {
              statements.add(sql);
            } else if (message.type() == 'S') {
              // Complete first: a client that notices the loss may ask at once whether the packet
              // was held back.
              keeping.complete(new Kept(server, back, statements));
              ProxyConnection.reset(client);
              return;
            }
          }
          server.getOutputStream().flush();
        }
        server.shutdownOutput();
      } catch (IOException e) {
        closeQuietly(server);
      }
    }

    void toClient() {
      try {
        InputStream in = server.getInputStream();
        byte[] buffer = new byte[CHUNK_BYTES];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          client.getOutputStream().write(buffer, 0, n);
          client.getOutputStream().flush();
        }
      } catch (IOException e) {
        // The client is gone, perhaps because its packet was held back.
        return;
      }
      closeQuietly(client);
    }

    private @Nullable String sqlOf(Message message) {
      return switch (message.type()) {
        case 'Q' -> message.strings(1).get(0).strip();
        case 'P' -> message.strings(2).get(1).strip();
        default -> null;
      };
    }
  }
}
