package dev.lockstep.server.http;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Shape;
import java.util.List;

/**
 * Endpoints for machines, documented like the rest of the API. {@link HttpApi} serves them even
 * while there is no database.
 */
public final class Probes {
  static final String METRICS_TYPE = "text/plain; version=0.0.4";

  static final List<Endpoint> ENDPOINTS =
      List.of(
          Endpoint.of(GET, "/healthz", "Tells that the process is alive.")
              .answering(
                  200,
                  Shape.object()
                      .required("status", Shape.choice("alive"))
                      .required("version", Shape.text(1, 64))),
          Endpoint.of(GET, "/readyz", "Tells whether requests can be served, or why not.")
              .answering(200, Shape.object().required("status", Shape.choice("ready"))),
          Endpoint.of(
                  GET,
                  "/metrics",
                  "Metrics for Prometheus. From other machines with an operator's key, or the metrics"
                      + " token, as 'Authorization: Bearer …'.")
              .answering(200, Shape.text(0, Integer.MAX_VALUE))
              .answeringAs(METRICS_TYPE));

  private Probes() {}
}
