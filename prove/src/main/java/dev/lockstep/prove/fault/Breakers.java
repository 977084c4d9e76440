package dev.lockstep.prove.fault;

import dev.lockstep.prove.fault.Fault.Lane;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Breaks things until it is closed. Each lane of faults has a thread (cuts: one per node) that
 * injects them one after the other, equally often, in an order that a seed decides.
 */
public final class Breakers implements AutoCloseable {
  private static final long REVIVE_MS = 100;

  private final Cluster cluster;
  private final Injector injector;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean over;

  private Breakers(Cluster cluster) {
    this.cluster = cluster;
    this.injector = new Injector(cluster);
  }

  /**
   * Starts to break things.
   *
   * @param faults empty: none
   */
  public static Breakers start(Cluster cluster, List<Fault> faults, long seed) {
    Breakers breakers = new Breakers(cluster);
    for (Lane lane : Lane.values()) {
      List<Fault> own =
          faults.stream()
              .filter(fault -> fault.lane() == lane)
              .filter(fault -> lane != Lane.BANK || cluster.bank().isPresent())
              .toList();
      // Each node has its own connections to cut.
      int count = own.isEmpty() ? 0 : lane == Lane.CUTS ? cluster.lines() : 1;
      for (int i = 0; i < count; i++) {
        int node = i;
        Random random = new Random(seed + 31L * lane.name().hashCode() + i);
        breakers.run(lane, i, () -> breakers.breakInTurn(lane, own, node, random));
      }
    }
    if (!faults.isEmpty()) {
      breakers.run(Lane.NODES, 1, breakers::revive);
    }
    return breakers;
  }

  private interface Task {
    void run() throws InterruptedException;
  }

  private void run(Lane lane, int number, Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "breaker-" + lane + "-" + number);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void breakInTurn(Lane lane, List<Fault> faults, int node, Random random)
      throws InterruptedException {
    List<Fault> deck = new ArrayList<>();
    while (!over) {
      if (deck.isEmpty()) {
        deck.addAll(faults);
        Collections.shuffle(deck, random);
      }
      TimeUnit.MILLISECONDS.sleep(random.nextInt((int) (2 * lane.gap().toMillis())));
      if (over) {
        return;
      }
      Fault fault = deck.remove(deck.size() - 1);
      if (lane == Lane.CUTS) {
        injector.inject(fault, node, random);
      } else {
        injector.inject(fault, random);
      }
    }
  }

  /** Restarts nodes that ended because they met a fault while starting. */
  private void revive() throws InterruptedException {
    while (!over) {
      cluster.revive();
      TimeUnit.MILLISECONDS.sleep(REVIVE_MS);
    }
  }

  /** Returns within seconds, once the last fault is mended. */
  @Override
  public void close() {
    over = true;
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
