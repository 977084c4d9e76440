package dev.lockstep.prove.fault;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports for shops, each another one, so that a port is not given out again at once. */
final class ShopPorts {
  /** Below the ports of outgoing connections, one of which could take a stopped shop's. */
  private static final int FIRST = 12_000;

  private static final int COUNT = 2_000;

  private int next;

  int free() {
    for (int i = 0; i < COUNT; i++) {
      int candidate = FIRST + next++ % COUNT;
      try (ServerSocket socket = new ServerSocket(candidate, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // Taken; the next one may be free.
      }
    }
    throw new IllegalStateException("No free port for a shop");
  }
}
