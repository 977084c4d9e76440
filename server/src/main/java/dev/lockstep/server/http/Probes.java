package dev.lockstep.server.http;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Shape;
import java.util.List;

/**
 * What machines ask of a server from its first moment on, described as the rest of the API is. They
 * are served by {@link HttpApi} itself, before there is a database and while it stops.
 */
public final class Probes {
  static final String METRICS_TYPE = "text/plain; version=0.0.4";

  static final List<Endpoint> ENDPOINTS =
      List.of(
          Endpoint.of(GET, "/healthz", "Says that the process is alive.")
              .answering(
                  200,
                  Shape.object()
                      .required("status", Shape.choice("alive"))
                      .required("version", Shape.text(1, 64))),
          Endpoint.of(GET, "/readyz", "Says whether requests can be served, else why not.")
              .answering(200, Shape.object().required("status", Shape.choice("ready"))),
          Endpoint.of(
                  GET,
                  "/metrics",
                  "Figures for Prometheus. From other machines with an operator's key, or the token"
                      + " for metrics, as 'Authorization: Bearer …'.")
              .answering(200, Shape.text(0, Integer.MAX_VALUE))
              .answeringAs(METRICS_TYPE));

  private Probes() {}
}
