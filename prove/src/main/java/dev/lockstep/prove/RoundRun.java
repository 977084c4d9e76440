package dev.lockstep.prove;

import dev.lockstep.prove.fault.Cluster;
import dev.lockstep.prove.fault.Fault;
import dev.lockstep.prove.fault.Injector;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.work.Client;
import dev.lockstep.prove.work.Round;
import dev.lockstep.prove.work.Workload;
import dev.lockstep.prove.work.Workloads;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;

/** Runs one round: prepare, work while things break, mend, read everything. */
final class RoundRun {
  private static final long FINISH_SECONDS = 240;
  private static final int LONGEST_GAP_MS = 120;
  private static final int AFTER_CRASH_MS = 2_500;

  private final Cluster cluster;
  private final CampaignConfig config;
  private final Round round;
  private final long seed;
  private final List<Workload> workloads = new ArrayList<>();
  private volatile boolean over;

  RoundRun(Cluster cluster, CampaignConfig config, int number) {
    this.cluster = cluster;
    this.config = config;
    this.round = new Round(cluster, number + 1L);
    this.seed = new Random(config.seed() * 31 + number).nextLong();
    for (String name : config.workloads()) {
      workloads.add(Workloads.of(name, round, seed ^ name.hashCode()));
    }
  }

  /**
   * @param progress hears of the number of calls, now and then
   */
  History run(LongConsumer progress) throws InterruptedException, SQLException {
    cluster.listener(round);
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      Client preparing = new Client(round, -2, seed);
      for (Workload workload : workloads) {
        workload.prepare(preparing);
      }
      List<Future<?>> clients = new ArrayList<>();
      int number = 0;
      for (Workload workload : workloads) {
        for (int i = 0; i < config.clients(); i++) {
          Client client = new Client(round, ++number, seed + number);
          clients.add(threads.submit(() -> work(workload, client)));
        }
      }
      breakThings(progress);
      round.calm();
      cluster.heal();
      over = true;
      await(clients);
      cluster.heal();
      cluster.settle();
      List<Future<?>> finishing = new ArrayList<>();
      for (Workload workload : workloads) {
        Client client = new Client(round, -3 - finishing.size(), seed);
        finishing.add(
            threads.submit(
                () -> {
                  workload.finish(client);
                  return null;
                }));
      }
      await(finishing);
    } finally {
      over = true;
      threads.shutdownNow();
    }
    progress.accept(round.recorder().count());
    return round.recorder().history();
  }

  private Void work(Workload workload, Client client) throws InterruptedException {
    while (!over) {
      workload.step(client);
    }
    return null;
  }

  private void breakThings(LongConsumer progress) throws InterruptedException {
    Injector injector = new Injector(cluster);
    Random random = new Random(seed);
    List<Fault> deck = deck(config.faults());
    long end = System.nanoTime() + config.roundTime().toNanos();
    while (System.nanoTime() < end) {
      if (deck.isEmpty()) {
        TimeUnit.MILLISECONDS.sleep(LONGEST_GAP_MS);
      } else {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_GAP_MS));
        Fault fault = deck.get(random.nextInt(deck.size()));
        injector.inject(fault, random);
        if (fault == Fault.CRASH) {
          // Without work in between there would be nothing to lose.
          TimeUnit.MILLISECONDS.sleep(random.nextInt(AFTER_CRASH_MS));
        }
      }
      progress.accept(round.recorder().count());
    }
  }

  /** Quick faults come more often than those that take seconds. */
  private static List<Fault> deck(List<Fault> faults) {
    List<Fault> deck = new ArrayList<>();
    for (Fault fault : faults) {
      int times =
          switch (fault) {
            case CUT_BEFORE_COMMIT, CUT_DURING_COMMIT, CUT_AFTER_COMMIT -> 6;
            case CUT_ALL, TERMINATE -> 5;
            case SLOW_COMMIT, REFUSE, SWALLOW, KILL -> 2;
            default -> 1;
          };
      for (int i = 0; i < times; i++) {
        deck.add(fault);
      }
    }
    return deck;
  }

  private static void await(List<Future<?>> futures) throws InterruptedException {
    for (Future<?> future : futures) {
      try {
        future.get(FINISH_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        throw new IllegalStateException("A client failed", e.getCause());
      } catch (TimeoutException e) {
        throw new IllegalStateException("A client does not end", e);
      }
    }
  }
}
