package dev.lockstep.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds a free port on loopback. */
final class FreePort {
  /**
   * Ports come from below the range for outgoing connections; otherwise a client that retries while
   * the server is down could be given the server's own port.
   */
  private static final int MIN = 15_000;

  private static final int MAX = 32_000;

  private FreePort() {}

  static int find() {
    for (int i = 0; i < 1000; i++) {
      int candidate = ThreadLocalRandom.current().nextInt(MIN, MAX);
      if (isFree(candidate)) {
        return candidate;
      }
    }
    throw new PostgresException("No free port between " + MIN + " and " + MAX + ".");
  }

  static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
