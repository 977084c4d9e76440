package dev.lockstep.bench;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * One caller that asks several contenders in short turns: whatever else the machine does meanwhile
 * hits them alike, so that their latencies can be compared.
 */
final class InTurns {
  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final String name;
  private final Load.Call call;
  private final Histogram latencies = Window.latencies();
  private long acknowledged;
  private long measuredNanos;

  InTurns(String name, Load.Call call) {
    this.name = name;
    this.call = call;
  }

  /** So many measured seconds each, after a warm-up; the results in the same order. */
  static List<Measured> run(int seconds, InTurns... contenders) throws Exception {
    Progress.say("%s, 1 caller, in turns", contenders[0].name);
    turns(contenders, Math.max(1, seconds / 3.0));
    for (InTurns contender : contenders) {
      contender.latencies.reset();
      contender.measuredNanos = 0;
    }
    turns(contenders, seconds);
    return List.of(contenders).stream().map(InTurns::measured).toList();
  }

  private static void turns(InTurns[] contenders, double seconds) throws Exception {
    long rounds = Math.round(TimeUnit.SECONDS.toNanos(1) * seconds / TURN_NANOS);
    for (long round = 0; round < rounds; round++) {
      for (InTurns contender : contenders) {
        contender.turn();
      }
    }
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
