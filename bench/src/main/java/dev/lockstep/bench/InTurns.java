package dev.lockstep.bench;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * One caller that runs several contenders in short turns, so that disturbances hit all alike and
 * their latencies can be compared.
 */
final class InTurns {
  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int MAX_WARM_UP_SECONDS = 10;

  private final String name;
  private final Load.Call call;
  private final Histogram latencies = Window.latencies();
  private long acknowledged;
  private long measuredNanos;

  InTurns(String name, Load.Call call) {
    this.name = name;
    this.call = call;
  }

  /**
   * Measures each contender for this many seconds after a warm-up; results in the same order. One
   * caller makes a few thousand calls per second, so compilation takes some seconds.
   */
  static List<Measured> run(int seconds, InTurns... contenders) throws Exception {
    Progress.say("%s, 1 caller, in turns", contenders[0].name);
    WarmUp.run(MAX_WARM_UP_SECONDS, () -> (double) turns(contenders, 1));
    for (InTurns contender : contenders) {
      contender.latencies.reset();
      contender.measuredNanos = 0;
    }
    turns(contenders, seconds);
    return List.of(contenders).stream().map(InTurns::measured).toList();
  }

  /** How many calls they made. */
  private static long turns(InTurns[] contenders, int seconds) throws Exception {
    long before = calls(contenders);
    long rounds = TimeUnit.SECONDS.toNanos(seconds) / TURN_NANOS;
    for (long round = 0; round < rounds; round++) {
      for (InTurns contender : contenders) {
        contender.turn();
      }
    }
    return calls(contenders) - before;
  }

  private static long calls(InTurns[] contenders) {
    return Arrays.stream(contenders).mapToLong(contender -> contender.acknowledged).sum();
  }

  private void turn() throws Exception {
    long startedNanos = System.nanoTime();
    long askedNanos = startedNanos;
    while (askedNanos - startedNanos < TURN_NANOS) {
      call.run(++acknowledged);
      long answeredNanos = System.nanoTime();
      Window.record(latencies, answeredNanos - askedNanos);
      askedNanos = answeredNanos;
    }
    measuredNanos += askedNanos - startedNanos;
  }

  private Measured measured() {
    return Measured.of(name, 1, latencies, measuredNanos / 1e9, acknowledged);
  }
}
