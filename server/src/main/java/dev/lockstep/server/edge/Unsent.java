package dev.lockstep.server.edge;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Bounds the bytes that clients have not taken yet, over all connections and per address.
 *
 * <p>Over a bound, connections are closed until it holds again: those of the address over its
 * bound, or of the address with the most bytes if the sum is too high. The connection whose client
 * has taken nothing for the longest time goes first, so clients that do not read make room only at
 * each other's expense.
 *
 * <p>Thread-safe. One lock guards everything; it is taken only when a client does not take an
 * answer at once, and nothing waits under it.
 */
final class Unsent {
  private final long most;
  private final long mostPerNetwork;
  private final Map<String, Network> networks = new HashMap<>();
  private long bytes;

  Unsent(MemoryLimits limits) {
    this.most = limits.unsent();
    this.mostPerNetwork = limits.unsentPerAddress();
  }

  /**
   * Registers a new connection with nothing unsent.
   *
   * @param network where it comes from
   * @param bounded whether the bound per address applies; false for trusted proxies
   * @param close ends the connection at once; called on any thread
   */
  Account of(String network, boolean bounded, Runnable close) {
    return new Account(network, bounded, close);
  }

  synchronized long bytes() {
    return bytes;
  }

  /** The connections of one address, the longest-stalled client first. */
  private static final class Network {
    final Set<Account> waiting = new LinkedHashSet<>();
    long bytes;

    long bytes() {
      return bytes;
    }
  }

  /** The unsent bytes of one connection. */
  final class Account {
    private final String network;
    private final boolean bounded;
    private final Runnable close;
    private long own;
    private boolean closed;

    private Account(String network, boolean bounded, Runnable close) {
      this.network = network;
      this.bounded = bounded;
      this.close = close;
    }

    void set(long now) {
      synchronized (Unsent.this) {
        if (closed || now == own) {
          return;
        }
        Network same = networks.computeIfAbsent(network, key -> new Network());
        boolean took = now < own;
        account(same, now);
        if (took || now == 0) {
          same.waiting.remove(this);
        }
        if (now > 0) {
          same.waiting.add(this);
        } else if (same.waiting.isEmpty()) {
          networks.remove(network);
        }
        makeRoom(same);
      }
    }

    private void makeRoom(Network same) {
      while (bounded && same.bytes > mostPerNetwork) {
        closeFirstOf(same);
      }
      while (bytes > most) {
        closeFirstOf(
            networks.values().stream().max(Comparator.comparingLong(Network::bytes)).orElseThrow());
      }
    }

    private void closeFirstOf(Network from) {
      Account first = from.waiting.iterator().next();
      from.waiting.remove(first);
      first.account(from, 0);
      first.closed = true;
      if (from.waiting.isEmpty()) {
        networks.remove(first.network);
      }
      first.close.run();
    }

    private void account(Network same, long now) {
      same.bytes += now - own;
      bytes += now - own;
      own = now;
    }
  }
}
