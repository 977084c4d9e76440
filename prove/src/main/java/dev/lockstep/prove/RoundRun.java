package dev.lockstep.prove;

import dev.lockstep.prove.fault.Breakers;
import dev.lockstep.prove.fault.Cluster;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs one round: prepare, work during faults, heal, read everything. */
final class RoundRun {
  private static final Logger log = LoggerFactory.getLogger(RoundRun.class);
  private static final long FINISH_SECONDS = 240;
  private static final long STEP_MS = 200;

  private final Cluster cluster;
  private final CampaignConfig config;
  private final Round round;
  private final long seed;
  private final List<Workload> workloads = new ArrayList<>();
  private final long begun = System.nanoTime();
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
   * @param progress called with the number of calls, now and then
   */
  History run(LongConsumer progress) throws InterruptedException, SQLException {
    cluster.listener(round);
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<?>> preparing = new ArrayList<>();
      for (Workload workload : workloads) {
        Client client = round.clients(1, -2 - preparing.size(), seed).get(0);
        preparing.add(threads.submit(() -> prepare(workload, client)));
      }
      await(preparing);
      List<Future<?>> clients = new ArrayList<>();
      for (Workload workload : workloads) {
        for (Client client : round.clients(config.clients(), clients.size() + 1, seed)) {
          clients.add(threads.submit(() -> work(workload, client)));
        }
      }
      injectFaults(progress);
      over = true;
      round.calm();
      note("worked");
      heal();
      await(clients);
      note("healed");
      heal();
      cluster.settle();
      note("settled");
      List<Future<?>> finishing = new ArrayList<>();
      for (Workload workload : workloads) {
        Client client = round.clients(1, -100 - finishing.size(), seed).get(0);
        finishing.add(threads.submit(() -> finish(workload, client)));
      }
      await(finishing);
      note("finished");
    } finally {
      over = true;
      threads.shutdownNow();
    }
    progress.accept(round.recorder().count());
    return round.recorder().history();
  }

  private static Void prepare(Workload workload, Client client) throws InterruptedException {
    workload.prepare(client);
    return null;
  }

  private Void finish(Workload workload, Client client) throws InterruptedException {
    workload.finish(client);
    note(workload.getClass().getSimpleName());
    return null;
  }

  private Void work(Workload workload, Client client) throws InterruptedException {
    while (!over) {
      workload.step(client);
    }
    return null;
  }

  /** Without faults there is nothing to heal, and healing cuts connections. */
  private void heal() throws InterruptedException {
    if (!config.faults().isEmpty()) {
      cluster.heal();
    }
  }

  private void note(String done) {
    log.debug("Round {}: {} after {} ms", seed, done, (System.nanoTime() - begun) / 1_000_000);
  }

  private void injectFaults(LongConsumer progress) throws InterruptedException {
    long end = System.nanoTime() + config.roundTime().toNanos();
    Breakers breakers = Breakers.start(cluster, config.faults(), seed);
    try {
      while (System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(STEP_MS);
        progress.accept(round.recorder().count());
      }
    } finally {
      breakers.close();
    }
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
