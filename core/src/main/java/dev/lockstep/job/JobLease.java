package dev.lockstep.job;

import java.sql.Connection;

/** The right of a running handler to complete its job: see {@link JobContext}. */
public interface JobLease {
  /** As {@link JobContext#holdsLease}. */
  boolean holds();

  /** As {@link JobContext#complete}. */
  void complete(Connection connection);
}
