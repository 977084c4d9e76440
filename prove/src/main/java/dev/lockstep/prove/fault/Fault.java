package dev.lockstep.prove.fault;

import java.time.Duration;
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
  DUMP("a reader of all tables, as pg_dump is"),
  GATEWAY_DOWN("the payment gateway refuses connections and cuts those it has"),
  GATEWAY_SLOW("the payment gateway answers late, some after its shop has given up"),
  GATEWAY_LATE("the payment gateway pays and answers 3 s later or never"),
  GATEWAY_ERRORS("the payment gateway answers 500, before or after it has paid"),
  HOOKS_LATE("webhooks come up to 4.5 s late"),
  HOOKS_TWICE("webhooks come twice and out of order");

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

  /** Faults of one lane come one after the other; those of different lanes overlap. */
  enum Lane {
    CUTS(Duration.ofMillis(150)),
    NODES(Duration.ofMillis(400)),
    NETWORK(Duration.ofMillis(150)),
    SESSIONS(Duration.ofMillis(200)),
    SERVER(Duration.ofMillis(4_500)),
    BESIDE(Duration.ofMillis(500)),
    BANK(Duration.ofMillis(300));

    private final Duration gap;

    Lane(Duration gap) {
      this.gap = gap;
    }

    /** The average pause between two faults of the lane. */
    Duration gap() {
      return gap;
    }
  }

  Lane lane() {
    return switch (this) {
      case CUT_BEFORE_COMMIT, CUT_DURING_COMMIT, CUT_AFTER_COMMIT, SLOW_COMMIT -> Lane.CUTS;
      case KILL, PAUSE, LEAVE -> Lane.NODES;
      case CUT_ALL, DELAY, SWALLOW, HALF_OPEN, REFUSE, POOL_EXHAUSTED -> Lane.NETWORK;
      case TERMINATE -> Lane.SESSIONS;
      case CRASH -> Lane.SERVER;
      case LONG_TRANSACTION, VACUUM_FULL, DUMP -> Lane.BESIDE;
      case GATEWAY_DOWN, GATEWAY_SLOW, GATEWAY_LATE, GATEWAY_ERRORS, HOOKS_LATE, HOOKS_TWICE ->
          Lane.BANK;
    };
  }
}
