package dev.lockstep.server.metric;

import io.micrometer.core.instrument.Counter;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Metrics of edits that name a version, and of their conflicts. */
final class EditFigures {
  private static final int CONFLICT = 412;

  private final Metrics metrics;
  private final Map<String, Operation> operations = new ConcurrentHashMap<>();

  /** One per API operation that takes a version. */
  private record Operation(Counter accepted, Counter conflict) {}

  EditFigures(Metrics metrics) {
    this.metrics = metrics;
  }

  /** Edits refused for another reason count in neither. */
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
        "Edits that name a version, by whether it was still current.",
        "operation",
        operation,
        "outcome",
        outcome);
  }
}
