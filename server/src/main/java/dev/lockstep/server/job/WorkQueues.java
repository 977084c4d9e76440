package dev.lockstep.server.job;

import dev.lockstep.job.QueueConfig;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Shape;
import java.util.List;
import java.util.function.Supplier;

/** The queues open to callers: all except those that the server's own workers serve. */
final class WorkQueues {
  private static final Shape NAME = Shape.text(1, 200);

  private final Supplier<List<QueueConfig>> served;

  WorkQueues(Supplier<List<QueueConfig>> served) {
    this.served = served;
  }

  /** Returns the name of a queue that is open to callers, or fails with a problem. */
  String open(String field, String name) {
    NAME.check(field, name);
    WorkJson.storable(field, name);
    if (served.get().stream().anyMatch(queue -> queue.name().equals(name))) {
      throw reserved(name);
    }
    return name;
  }

  static ProblemException reserved(String name) {
    return Problem.of(
            "queue-reserved",
            409,
            "Queue reserved",
            "The server's own workers serve '" + name + "'; use another queue.")
        .with("queue", name)
        .asException();
  }
}
