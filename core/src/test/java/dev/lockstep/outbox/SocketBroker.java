package dev.lockstep.outbox;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;

/**
 * Takes events of relays in any process, in the order in which they come, and fails at random: it
 * takes only the first of a batch, or all of them and says nothing.
 */
final class SocketBroker implements AutoCloseable {
  private final ServerSocket server;
  private final ConsumerLog log;
  private final Random random;

  SocketBroker(ConsumerLog log, long seed) throws IOException {
    this.log = log;
    this.random = new Random(seed);
    this.server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    start("broker", this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  private static void start(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        start("broker-connection", () -> serve(socket));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    try (socket;
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
      while (true) {
        int count = in.readInt();
        String[] keys = new String[count];
        long[] seqs = new long[count];
        for (int i = 0; i < count; i++) {
          keys[i] = in.readUTF();
          seqs[i] = in.readLong();
        }
        int taken = take(keys, seqs);
        if (taken < 0) {
          return;
        }
        out.writeInt(taken);
        out.flush();
      }
    } catch (IOException e) {
      // The relay is gone, or has been cut off.
    }
  }

  /** How many it says it has taken; negative: it hangs up instead. */
  private synchronized int take(String[] keys, long[] seqs) {
    int luck = random.nextInt(100);
    int taken = luck < 3 ? random.nextInt(keys.length + 1) : keys.length;
    for (int i = 0; i < taken; i++) {
      log.note(keys[i], seqs[i]);
    }
    return luck >= 98 ? -1 : taken;
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
