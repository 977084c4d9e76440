package dev.lockstep.prove.fault;

import java.util.Locale;

/** What can break. */
public enum Fault {
  KILL("SIGKILL of a node; another takes its place"),
  PAUSE("SIGSTOP of a node past its lease, then SIGCONT"),
  LEAVE("a node leaves in order; another joins"),
  CUT_BEFORE_COMMIT("connection cut before COMMIT arrives"),
  CUT_DURING_COMMIT("connection cut within COMMIT's bytes"),
  CUT_AFTER_COMMIT("connection cut before COMMIT's answer arrives"),
  SLOW_COMMIT("COMMIT is slow and its client leaves meanwhile"),
  CUT_ALL("all connections of a node cut"),
  DELAY("latency up to 5 s"),
  SWALLOW("packets of a node swallowed, both ways"),
  HALF_OPEN("connections stay open, nothing passes"),
  REFUSE("new connections of a node refused"),
  TERMINATE("pg_terminate_backend"),
  CRASH("PostgreSQL stopped with immediate, restarted"),
  POOL_EXHAUSTED("all pooled connections of a node taken"),
  LONG_TRANSACTION("a long transaction with an id and a snapshot"),
  VACUUM_FULL("VACUUM FULL of a hot table"),
  DUMP("a reader of all tables, as pg_dump is");

  private final String meaning;

  Fault(String meaning) {
    this.meaning = meaning;
  }

  public String meaning() {
    return meaning;
  }

  /** As on the command line. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * The fault of that name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Fault of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** The moment of a commit at which this cuts. */
  boolean isCut() {
    return this == CUT_BEFORE_COMMIT
        || this == CUT_DURING_COMMIT
        || this == CUT_AFTER_COMMIT
        || this == SLOW_COMMIT;
  }
}
