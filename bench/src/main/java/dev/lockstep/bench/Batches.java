package dev.lockstep.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Threads that process one batch of jobs after another, as fast as they can. */
final class Batches implements AutoCloseable {
  private static final long IDLE_MS = 5;

  /** Takes, runs and ends a batch, and commits. */
  @FunctionalInterface
  interface Batch {
    /** Returns how many jobs it ran. */
    int run(Connection connection) throws SQLException;
  }

  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopping;
  private volatile boolean failed;

  private Batches() {}

  static Batches start(DataSource source, List<Batch> each) {
    Batches batches = new Batches();
    for (int i = 0; i < each.size(); i++) {
      Batch batch = each.get(i);
      batches.threads.add(new Thread(() -> batches.loop(source, batch), "batches-" + i));
    }
    batches.threads.forEach(Thread::start);
    return batches;
  }

  private void loop(DataSource source, Batch batch) {
    try (Connection connection = source.getConnection()) {
      connection.setAutoCommit(false);
      while (!stopping) {
        if (batch.run(connection) == 0) {
          Thread.sleep(IDLE_MS);
        }
      }
      connection.setAutoCommit(true);
    } catch (SQLException | InterruptedException e) {
      failed = true;
    }
  }

  @Override
  public void close() {
    stopping = true;
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failed) {
      throw new IllegalStateException("A thread of the benchmark failed");
    }
  }
}
