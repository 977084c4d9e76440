package dev.lockstep.testkit;

import dev.lockstep.testkit.TcpProxy.Passage;
import dev.lockstep.testkit.TcpProxy.Tap;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** One client and its connection to the target, with one thread per direction. */
final class ProxyConnection {

  private static final int CHUNK_BYTES = 16 * 1024;

  /** How long a server may take to close after its client is gone. */
  private static final Duration FINISH_TIMEOUT = Duration.ofSeconds(20);

  private final TcpProxy proxy;
  private final Socket client;
  private final Socket server;
  private final Tap tap;
  private final AtomicBoolean reset = new AtomicBoolean();
  private final CountDownLatch serverDone = new CountDownLatch(1);
  private final AtomicInteger directionsOpen = new AtomicInteger(2);

  /** Nothing more reaches the client; only the server's end is awaited. */
  private volatile boolean finishing;

  /** Bytes were lost, so whatever follows would be garbage. */
  private volatile boolean mute;

  ProxyConnection(TcpProxy proxy, Socket client, Socket server, Tap tap) {
    this.proxy = proxy;
    this.client = client;
    this.server = server;
    this.tap = tap;
  }

  void start() throws IOException {
    // Before either direction works: it may close the socket of the other.
    InputStream fromClient = client.getInputStream();
    OutputStream toClient = client.getOutputStream();
    InputStream fromServer = server.getInputStream();
    OutputStream toServer = server.getOutputStream();
    startThread("tcp-proxy-to-server-", () -> pumpToServer(fromClient, toServer));
    startThread("tcp-proxy-to-client-", () -> pumpToClient(fromServer, toClient));
  }

  private void startThread(String name, Runnable body) {
    Thread thread = new Thread(body, name + proxy.port());
    thread.setDaemon(true);
    thread.start();
  }

  boolean isReset() {
    return reset.get();
  }

  /** Resets both sides, instead of closing them in order. */
  void reset() {
    if (reset.compareAndSet(false, true)) {
      reset(client);
      reset(server);
      proxy.ended(this);
    }
  }

  static void reset(Socket socket) {
    try {
      // A linger time of zero makes close send a reset.
      socket.setSoLinger(true, 0);
    } catch (IOException e) {
      // Closed already.
    }
    close(socket);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is left to close.
    }
  }

  private void pumpToServer(InputStream in, OutputStream out) {
    try {
      pump(in, out, tap::toServer, false);
      if (finishing) {
        awaitServerDone();
      } else if (!isMute()) {
        server.shutdownOutput();
        directionEnded();
      }
    } catch (IOException | InterruptedException e) {
      // While finishing, the other direction still waits for the server's end.
      if (!finishing && !isMute()) {
        reset();
      }
    }
  }

  private void pumpToClient(InputStream in, OutputStream out) {
    try {
      pump(in, out, tap::toClient, true);
      serverEnded();
      if (finishing) {
        reset();
      } else if (!isMute()) {
        client.shutdownOutput();
        directionEnded();
      }
    } catch (SocketTimeoutException e) {
      reset();
    } catch (IOException | InterruptedException e) {
      // While finishing we only read, so the server ended by a reset, unless we did it ourselves.
      if (finishing && !isReset()) {
        serverEnded();
      }
      if (!isMute()) {
        reset();
      }
    }
  }

  /** Whether even the end of one side is hidden from the other. */
  private boolean isMute() {
    mute |= proxy.swallows();
    return mute;
  }

  private void serverEnded() {
    tap.serverDone();
    serverDone.countDown();
  }

  /** Resets after a time limit, so that the other direction does not wait for ever. */
  private void awaitServerDone() throws InterruptedException {
    if (!serverDone.await(FINISH_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
      reset();
    }
  }

  /**
   * Forwards until the source ends. After a decision to finish, only the direction to the client
   * keeps reading.
   */
  private void pump(
      InputStream in, OutputStream out, Function<byte[], Passage> decide, boolean toClient)
      throws IOException, InterruptedException {
    byte[] buffer = new byte[CHUNK_BYTES];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      if (finishing) {
        continue;
      }
      if (!proxy.passGate(this)) {
        throw new IOException("connection ended while its bytes were held back");
      }
      if (isMute()) {
        continue;
      }
      Passage passage = decide.apply(Arrays.copyOf(buffer, n));
      // The other direction may have decided meanwhile.
      if (finishing) {
        continue;
      }
      out.write(passage.bytes());
      out.flush();
      if (passage.then() == Passage.Then.CUT) {
        throw new IOException("cut by the tap");
      }
      boolean leaves = passage.then() == Passage.Then.LEAVE;
      if (leaves || passage.then() == Passage.Then.FINISH_THEN_CUT) {
        finish();
        if (leaves) {
          reset(client);
        }
        if (!toClient) {
          return;
        }
      }
    }
  }

  private void finish() throws IOException {
    finishing = true;
    server.setSoTimeout((int) FINISH_TIMEOUT.toMillis());
    server.shutdownOutput();
  }

  private void directionEnded() {
    if (directionsOpen.decrementAndGet() == 0 && reset.compareAndSet(false, true)) {
      // An orderly close, so that the last bytes still arrive.
      close(client);
      close(server);
      proxy.ended(this);
    }
  }
}
