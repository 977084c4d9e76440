package dev.lockstep.spring.boot;

import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.SinkHealth;
import dev.lockstep.spring.LockstepRuntime;
import java.util.List;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;

/**
 * Down if this node's worker or relay has a problem. A sink that is down is only a detail: its
 * events wait, and a restart of this node would not help. Reads memory only.
 */
final class LockstepHealthIndicator extends AbstractHealthIndicator {
  private final LockstepRuntime runtime;

  LockstepHealthIndicator(LockstepRuntime runtime) {
    this.runtime = runtime;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    List<String> problems = runtime.problems();
    if (problems.isEmpty()) {
      builder.up();
    } else {
      builder.down().withDetail("problems", problems);
    }
    runtime.worker().ifPresent(one -> builder.withDetail("ownedShards", one.ownedShards()));
    runtime.relay().ifPresent(one -> addRelay(builder, one));
  }

  private static void addRelay(Health.Builder builder, Relay relay) {
    builder.withDetail("ownedPartitions", relay.ownedPartitions());
    List<String> down =
        relay.sinks().stream()
            .filter(sink -> sink.down().isPresent())
            .map(LockstepHealthIndicator::describe)
            .toList();
    if (!down.isEmpty()) {
      builder.withDetail("sinksDown", down);
    }
  }

  private static String describe(SinkHealth sink) {
    return "%s of %s: %s".formatted(sink.sink(), sink.stream(), sink.down().orElse(""));
  }
}
