package dev.lockstep.server;

import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;

/**
 * An error answer as RFC 9457 describes it.
 *
 * @param slug last part of the problem's type
 * @param status the HTTP status
 * @param title the same for every occurrence
 * @param detail about this occurrence; never a stack trace
 */
record Problem(String slug, int status, String title, String detail) {
  private static final String TYPES = "https://lockstep.dev/problems/";

  static Problem badRequest() {
    return new Problem("bad-request", 400, "Bad request", "The request is not well formed.");
  }

  static Problem notFound(String path) {
    return new Problem("not-found", 404, "Not found", "There is nothing at " + path + ".");
  }

  static Problem methodNotAllowed(String method) {
    return new Problem(
        "method-not-allowed", 405, "Method not allowed", method + " is not possible here.");
  }

  static Problem notReady(String why) {
    return new Problem("not-ready", 503, "Not ready", why);
  }

  static Problem internal() {
    return new Problem("internal", 500, "Internal error", "The server failed; its log says why.");
  }

  void send(HttpServerResponse response) {
    response
        .setStatusCode(status)
        .putHeader("Content-Type", "application/problem+json")
        .end(
            new JsonObject()
                .put("type", TYPES + slug)
                .put("title", title)
                .put("status", status)
                .put("detail", detail)
                .toBuffer());
  }
}
