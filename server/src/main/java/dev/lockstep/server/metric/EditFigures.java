package dev.lockstep.server.metric;

import io.micrometer.core.instrument.Counter;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Edits that name the version they were made for, and how many met another one. */
final class EditFigures {
  private static final int CONFLICT = 412;

  private final Metrics metrics;
  private final Map<String, Operation> operations = new ConcurrentHashMap<>();

  /** As many as the API has that take a version. */
  private record Operation(Counter accepted, Counter conflict) {}

  EditFigures(Metrics metrics) {
    this.metrics = metrics;
  }

  /** What was refused for another reason is in neither number. */
  void answered(HttpServerRequest request, String route, int status) {
    if (request.headers().contains("If-Match") && (status / 100 == 2 || status == CONFLICT)) {
      Operation operation =
          operations.computeIfAbsent(request.method().name() + " " + route, this::register);
      (status == CONFLICT ? operation.conflict() : operation.accepted()).increment();
    }
  }

  private Operation register(String operation) {
    return new Operation(counter(operation, "accepted"), counter(operation, "conflict"));
  }

  private Counter counter(String operation, String outcome) {
    return metrics.counter(
        "lockstep.versioned.edits",
        "Edits made for a version, by whether it was still the current one.",
        "operation",
        operation,
        "outcome",
        outcome);
  }
}
