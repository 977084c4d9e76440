package dev.lockstep.server.document;

import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Endpoint.IfMatch;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.page.PageFrame;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The OpenAPI 3.1 document and its HTML page. Both are built once, at start. */
public final class ApiDocument {
  private static final String PROBLEM = "#/components/schemas/Problem";

  private final List<Endpoint> endpoints;
  private final String version;

  public ApiDocument(List<Endpoint> endpoints, String version) {
    this.endpoints = List.copyOf(endpoints);
    this.version = version;
  }

  public JsonObject openApi() {
    JsonObject paths = new JsonObject();
    for (Endpoint endpoint : endpoints) {
      if (!paths.containsKey(endpoint.path())) {
        paths.put(endpoint.path(), new JsonObject());
      }
      paths
          .getJsonObject(endpoint.path())
          .put(endpoint.method().name().toLowerCase(Locale.ROOT), operation(endpoint));
    }
    return new JsonObject()
        .put("openapi", "3.1.0")
        .put(
            "info",
            new JsonObject()
                .put("title", "Lockstep")
                .put("version", version)
                .put("summary", "Sell, schedule, publish and transfer on PostgreSQL."))
        .put("paths", paths)
        .put("components", components());
  }

  /** Plain HTML without scripts, under the strict policy of all pages. */
  public String page() {
    StringBuilder html = new StringBuilder(contents());
    for (Endpoint endpoint : endpoints) {
      html.append("<section id=\"")
          .append(operationId(endpoint))
          .append("\">\n<h2><code>")
          .append(escape(endpoint.method() + " " + endpoint.path()))
          .append("</code></h2>\n<p>")
          .append(escape(endpoint.summary()))
          .append("</p>\n<dl>\n")
          .append(fact("Who", who(endpoint)));
      if (endpoint.idempotencyKey() != IdempotencyKey.UNUSED) {
        html.append(
            fact("Idempotency-Key", endpoint.idempotencyKey().name().toLowerCase(Locale.ROOT)));
      }
      if (endpoint.ifMatch() != IfMatch.UNUSED) {
        html.append(fact("If-Match", endpoint.ifMatch().name().toLowerCase(Locale.ROOT)));
      }
      new TreeMap<>(endpoint.query())
          .forEach((name, meaning) -> html.append(fact("?" + name, meaning)));
      html.append("</dl>\n");
      endpoint.body().ifPresent(body -> html.append(schema("Request body", body.schema())));
      new TreeMap<>(endpoint.answers())
          .forEach((status, shape) -> html.append(schema("Answer " + status, shape.schema())));
      html.append("</section>\n");
    }
    return PageFrame.of("The API · Lockstep", "/docs", PAGE.formatted(html));
  }

  private static final String PAGE =
      """
      <main id="main" class="narrow reference" tabindex="-1">
      <h1>The API</h1>
      <p class="tagline">Version 1. For machines: <a href="/openapi.json">OpenAPI 3.1</a>.</p>
      <p>JSON in and out. Keys travel as <code>Authorization: Bearer …</code>. An error is a problem
      document (RFC 9457) whose type names it and whose <code>requestId</code> finds it in the logs.</p>
      %s</main>""";

  /** Links to the first operation of each resource. */
  private String contents() {
    Map<String, String> groups = new LinkedHashMap<>();
    endpoints.forEach(endpoint -> groups.putIfAbsent(group(endpoint), operationId(endpoint)));
    StringBuilder html = new StringBuilder("<nav class=\"row\" aria-label=\"Contents\">\n");
    groups.forEach(
        (name, first) ->
            html.append("<a href=\"#")
                .append(first)
                .append("\">")
                .append(escape(name))
                .append("</a>\n"));
    return html.append("</nav>\n").toString();
  }

  private static String group(Endpoint endpoint) {
    String[] words = endpoint.path().split("/", -1);
    return words[1].equals("v1") ? words[2] : "operation";
  }

  private static JsonObject operation(Endpoint endpoint) {
    JsonObject operation =
        new JsonObject()
            .put("summary", endpoint.summary())
            .put("operationId", operationId(endpoint))
            .put("parameters", parameters(endpoint))
            .put("responses", responses(endpoint));
    endpoint
        .body()
        .ifPresent(
            body ->
                operation.put(
                    "requestBody",
                    new JsonObject()
                        .put("required", !endpoint.bodyOptional())
                        .put("content", content("application/json", body.schema()))));
    if (!endpoint.roles().isEmpty()) {
      operation
          .put("security", new JsonArray().add(new JsonObject().put("key", new JsonArray())))
          .put("description", "For keys of role " + who(endpoint) + ".");
    }
    return operation;
  }

  private static JsonArray parameters(Endpoint endpoint) {
    JsonArray parameters = new JsonArray();
    endpoint
        .pathParameters()
        .forEach(name -> parameters.add(parameter("path", name, "An id.", true)));
    new TreeMap<>(endpoint.query())
        .forEach((name, meaning) -> parameters.add(parameter("query", name, meaning, false)));
    if (endpoint.idempotencyKey() != IdempotencyKey.UNUSED) {
      parameters.add(
          parameter(
              "header",
              "Idempotency-Key",
              "Makes a repetition safe: it gets the first answer.",
              endpoint.idempotencyKey() == IdempotencyKey.REQUIRED));
    }
    if (endpoint.isTagged()) {
      parameters.add(
          parameter(
              "header",
              "If-None-Match",
              "The ETag you last saw. If nothing has changed since, the answer is 304.",
              false));
    }
    if (endpoint.ifMatch() != IfMatch.UNUSED) {
      parameters.add(
          parameter(
              "header",
              "If-Match",
              "The ETag you last saw. If it has changed since, nothing is done.",
              endpoint.ifMatch() == IfMatch.REQUIRED));
    }
    return parameters;
  }

  private static JsonObject parameter(String in, String name, String meaning, boolean required) {
    return new JsonObject()
        .put("in", in)
        .put("name", name)
        .put("description", meaning)
        .put("required", required)
        .put("schema", new JsonObject().put("type", "string"));
  }

  private static JsonObject responses(Endpoint endpoint) {
    JsonObject responses = new JsonObject();
    new TreeMap<>(endpoint.answers())
        .forEach(
            (status, shape) ->
                responses.put(
                    String.valueOf(status),
                    new JsonObject()
                        .put("description", "Success.")
                        .put("content", content(endpoint.mediaType(), shape.schema()))));
    if (endpoint.isTagged()) {
      responses.put("304", new JsonObject().put("description", "Nothing has changed."));
    }
    return responses.put(
        "default",
        new JsonObject()
            .put("description", "A problem.")
            .put(
                "content",
                content("application/problem+json", new JsonObject().put("$ref", PROBLEM))));
  }

  private static JsonObject components() {
    JsonObject text = new JsonObject().put("type", "string");
    JsonObject problem =
        new JsonObject()
            .put("type", "object")
            .put(
                "properties",
                new JsonObject()
                    .put("type", text.copy().put("description", Problem.TYPES + "<slug>"))
                    .put("title", text)
                    .put("status", new JsonObject().put("type", "integer"))
                    .put("detail", text)
                    .put("requestId", text))
            .put("required", new JsonArray(List.of("type", "title", "status", "detail")));
    return new JsonObject()
        .put("schemas", new JsonObject().put("Problem", problem))
        .put(
            "securitySchemes",
            new JsonObject()
                .put("key", new JsonObject().put("type", "http").put("scheme", "bearer")));
  }

  private static JsonObject content(String type, JsonObject schema) {
    return new JsonObject().put(type, new JsonObject().put("schema", schema));
  }

  private static String operationId(Endpoint endpoint) {
    return (endpoint.method().name().toLowerCase(Locale.ROOT) + endpoint.path())
        .replaceAll("[{}]", "")
        .replace('/', '-')
        .replace('.', '-');
  }

  private static String who(Endpoint endpoint) {
    return endpoint.roles().isEmpty()
        ? "anyone"
        : endpoint.roles().stream().sorted().map(Role::label).collect(Collectors.joining(", "));
  }

  private static String fact(String name, String value) {
    return "<div><dt>" + escape(name) + "</dt><dd>" + escape(value) + "</dd></div>\n";
  }

  private static String schema(String title, JsonObject schema) {
    return "<details><summary>"
        + escape(title)
        + "</summary><pre>"
        + escape(schema.encodePrettily())
        + "</pre></details>\n";
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
