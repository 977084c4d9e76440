package dev.lockstep.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.BadBodies.Bad;
import dev.lockstep.server.EveryRoute.Operation;
import dev.lockstep.server.RawHttp.Got;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Every route of the OpenAPI document with everything that can be wrong about a request: refused
 * with a problem, never with a fault of the server, and nothing is written.
 */
@Timeout(300)
class EveryBadRequestTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String BAD_TEXT = "unstorable-text";
  private static @Nullable EveryRoute routes;

  @BeforeAll
  static void makeOneOfEverything() throws Exception {
    routes = new EveryRoute(server);
  }

  @TestFactory
  Stream<DynamicTest> everyFieldOfEveryBodyIsChecked() throws Exception {
    return forEach(
        operation -> operation.body().isPresent() && !signed(operation),
        operation -> {
          for (Bad bad : BadBodies.of(operation.body().orElseThrow())) {
            Got got = send(operation, bad.json().getBytes(UTF_8), Map.of());
            String slug = got.slug();
            assertThat(got.status()).as("%s: %s", bad.what(), got.body()).isEqualTo(400);
            if (bad.badText()) {
              assertThat(slug).as("%s: %s", bad.what(), got.body()).isEqualTo(BAD_TEXT);
            }
            if (bad.badNumber()) {
              assertThat(slug).as("%s: %s", bad.what(), got.body()).isEqualTo("invalid-request");
              String field = new JsonObject(got.body()).getString("field");
              assertThat(field).as("%s: %s", bad.what(), got.body()).isEqualTo(bad.field());
            }
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> everyBodyIsStrictJson() throws Exception {
    return forEach(
        operation -> operation.body().isPresent() && !signed(operation),
        operation -> {
          String good = BadBodies.good(operation.body().orElseThrow()).get(0);
          for (Map.Entry<String, byte[]> bad : notJson(good).entrySet()) {
            Got got = send(operation, bad.getValue(), Map.of());
            assertThat(got.slug()).as(bad.getKey()).isEqualTo("malformed-json");
            assertThat(got.status()).isEqualTo(400);
          }
          for (String type :
              List.of(
                  "application/jsonx",
                  "application/json+x",
                  "text/json",
                  "application/json; charset=utf-16",
                  "application/json; charset=\"iso-8859-1\"",
                  "application/json charset=utf-8",
                  "application/json;;charset",
                  "")) {
            Got got = send(operation, good.getBytes(UTF_8), Map.of("Content-Type", type));
            assertThat(got.status()).as("%s: %s", type, got.body()).isEqualTo(415);
            assertThat(got.slug()).isEqualTo("unsupported-media-type");
          }
          assertThat(
                  send(operation, good.getBytes(UTF_8), Map.of("Content-Encoding", "gzip")).slug())
              .isEqualTo("unsupported-media-type");
        });
  }

  private static Map<String, byte[]> notJson(String good) {
    Map<String, byte[]> bad = new LinkedHashMap<>();
    bad.put("two values", (good + good).getBytes(UTF_8));
    bad.put("something behind", (good + " x").getBytes(UTF_8));
    bad.put("a comment", ("/* hello */" + good).getBytes(UTF_8));
    bad.put("a line's comment", ("// hello\n" + good).getBytes(UTF_8));
    bad.put("a shell's comment", ("# hello\n" + good).getBytes(UTF_8));
    bad.put("not a number", "{\"x\":NaN}".getBytes(UTF_8));
    bad.put("infinite", "{\"x\":-Infinity}".getBytes(UTF_8));
    bad.put("single quotes", "{'x':1}".getBytes(UTF_8));
    bad.put("no quotes", "{x:1}".getBytes(UTF_8));
    bad.put("a comma too many", "{\"x\":1,}".getBytes(UTF_8));
    bad.put("a leading zero", "{\"x\":01}".getBytes(UTF_8));
    bad.put("a mark of byte order", ("\ufeff" + good).getBytes(UTF_8));
    bad.put("UTF-16", good.getBytes(UTF_16));
    bad.put("UTF-16 without a mark", good.getBytes(UTF_16LE));
    bad.put("UTF-32", good.getBytes(Charset.forName("UTF-32BE")));
    bad.put("invalid UTF-8", "{\"x\":\"\u00e9\"}".getBytes(ISO_8859_1));
    bad.put("half a character in UTF-8", "{\"x\":\"\u00ed\u00a0\u0080\"}".getBytes(ISO_8859_1));
    bad.put("too deep", "{\"x\":".repeat(10_000).getBytes(UTF_8));
    bad.put("an unfinished escape", "{\"x\":\"\\u12\"}".getBytes(UTF_8));
    bad.put("a control character", "{\"x\":\"\u0001\"}".getBytes(UTF_8));
    int colon = good.indexOf(':');
    if (good.startsWith("{") && colon > 0) {
      String name = good.substring(1, colon);
      bad.put("a member twice", ("{" + name + ":1," + good.substring(1)).getBytes(UTF_8));
      bad.put(
          "a member twice, deep", ("{\"x\":[{" + name + ":1," + name + ":1}]}").getBytes(UTF_8));
    }
    return bad;
  }

  @TestFactory
  Stream<DynamicTest> everyQueryIsChecked() throws Exception {
    return forEach(
        operation -> true,
        operation -> {
          Got unknown = raw(operation, operation.path() + "?nosuch=1");
          assertThat(unknown.slug()).as(unknown.body()).isEqualTo("unknown-parameter");
          assertThat(unknown.body()).contains("nosuch");
          List<String> names = new ArrayList<>(operation.parameters("query"));
          names.add("nosuch");
          for (String name : names) {
            for (String text : List.of("a%00b", "%ed%a0%80", "%ff", "%c3", "%zz", "%4")) {
              Got got = raw(operation, operation.path() + "?" + name + "=" + text);
              assertThat(got.status()).as("%s=%s: %s", name, text, got.body()).isEqualTo(400);
              assertThat(got.slug()).as(got.body()).isIn(BAD_TEXT, "bad-request");
            }
          }
          for (String name : operation.parameters("query")) {
            Got twice = raw(operation, operation.path() + "?" + name + "=1&" + name + "=1");
            assertThat(twice.slug()).as(twice.body()).isEqualTo("repeated-parameter");
            for (String text : List.of("", "%20", "x".repeat(3_000))) {
              Got got = raw(operation, operation.path() + "?" + name + "=" + text);
              assertThat(got.status()).as("%s=%s: %s", name, text, got.body()).isLessThan(500);
            }
          }
          for (String cursor : cursors(operation)) {
            Got got =
                raw(operation, operation.path() + "?" + needed(operation) + "after=" + cursor);
            assertThat(got.status()).as("%s: %s", cursor, got.body()).isEqualTo(400);
            assertThat(got.slug()).isEqualTo("invalid-request");
            assertThat(new JsonObject(got.body()).getString("field")).isEqualTo("after");
          }
        });
  }

  private static List<String> cursors(Operation operation) {
    return operation.parameters("query").contains("after")
        ? List.of(
            "zzz", "0", "1", "-1", "", "key_0", "YWJj", "01890000-0000-7000-8000-000000000000")
        : List.of();
  }

  /** What a list asks for before it looks at a cursor. */
  private static String needed(Operation operation) {
    return switch (operation.template()) {
      case "/v1/holds" -> "campaign=1&";
      case "/v1/streams/{stream}/events" -> "key=k&";
      default -> "";
    };
  }

  @TestFactory
  Stream<DynamicTest> everyPathIsChecked() throws Exception {
    return forEach(
        operation -> operation.template().contains("{"),
        operation -> {
          String[] words = operation.template().split("/", -1);
          String[] there = operation.path().split("/", -1);
          for (int i = 0; i < words.length; i++) {
            if (words[i].startsWith("{")) {
              for (String text : List.of("a%00b", "%ed%a0%80", "%ff", "%c3", "%zz", "%4")) {
                Got got = raw(operation, at(there, i, text));
                assertThat(got.status()).as("%s: %s", text, got.body()).isEqualTo(400);
                assertThat(got.slug()).as(got.body()).isIn(BAD_TEXT, "bad-request");
              }
              // A stream of any name may be made, and a queue that nobody has seen be asked for
              // jobs.
              boolean named = words[i].matches("\\{(stream|queue)}");
              for (String text :
                  named
                      ? List.of("%20", "x".repeat(3_000))
                      : List.of("%20", "x".repeat(3_000), "-1", "0", "1e9", "%2f", "%25")) {
                Got got = raw(operation, at(there, i, text));
                assertThat(got.status()).as("%s: %s", text, got.body()).isBetween(400, 499);
                assertThat(got.slug()).isNotBlank();
              }
            }
          }
        });
  }

  private static String at(String[] words, int place, String text) {
    String[] changed = words.clone();
    changed[place] = text;
    return String.join("/", changed);
  }

  @TestFactory
  Stream<DynamicTest> everyHeaderIsChecked() throws Exception {
    return forEach(
        operation -> operation.parameters("header").contains("Idempotency-Key"),
        operation -> {
          byte[] body =
              operation
                  .body()
                  .map(BadBodies::good)
                  .map(all -> all.get(0))
                  .orElse("")
                  .getBytes(UTF_8);
          for (String key : List.of("", "\"\"", "  ", "\u00e9", "a\tb", "x".repeat(256), "\"a")) {
            Got got = send(operation, body, Map.of("Idempotency-Key", key));
            assertThat(got.status()).as("%s: %s", key, got.body()).isEqualTo(400);
            assertThat(got.slug()).as(key).startsWith("idempotency-key-");
          }
          Got twice = send(operation, body, Map.of("Idempotency-Key", "a\r\nIdempotency-Key: b"));
          assertThat(twice.slug()).as(twice.body()).isEqualTo("idempotency-key-invalid");
        });
  }

  @TestFactory
  Stream<DynamicTest> everyRouteRefusesWhoMayNot() throws Exception {
    Map<String, Client> callers =
        Map.of("service", server.service(), "buyer", server.buyer("another"));
    return forEach(
        operation -> !operation.roles().isEmpty(),
        operation -> {
          byte[] body =
              operation
                  .body()
                  .map(BadBodies::good)
                  .map(all -> all.get(0))
                  .orElse("")
                  .getBytes(UTF_8);
          Map<String, String> once = Map.of("Idempotency-Key", "who " + operation);
          for (String key : List.of("", "Bearer", "Bearer nobody", "Basic YTpi")) {
            Got got = exchange(operation, operation.path(), key, body, once);
            assertThat(got.slug()).as(key).isEqualTo("unauthorized");
            assertThat(got.status()).isEqualTo(401);
          }
          for (Map.Entry<String, Client> caller : callers.entrySet()) {
            server.passSeconds(1);
            String key = "Bearer " + caller.getValue().key().orElseThrow();
            if (!operation.roles().contains(caller.getKey())) {
              Got got = exchange(operation, operation.path(), key, body, once);
              assertThat(got.slug()).as(got.body()).isEqualTo("forbidden");
              assertThat(got.status()).isEqualTo(403);
            }
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> aBuyerSeesNothingOfAnothers() throws Exception {
    String key = "Bearer " + server.buyer("a stranger").key().orElseThrow();
    return forEach(
        operation ->
            operation.roles().contains("buyer")
                && operation.template().matches("/v1/(holds|purchases)/\\{id}.*"),
        operation -> {
          server.passSeconds(1);
          String body =
              operation.body().isEmpty()
                  ? ""
                  : operation.method().equals("PUT")
                      ? "{\"items\":[{\"sku\":\"A\",\"quantity\":2}]}"
                      : BadBodies.good(operation.body().get()).get(0);
          Got got =
              exchange(
                  operation,
                  operation.path(),
                  key,
                  body.getBytes(UTF_8),
                  Map.of("Idempotency-Key", "a stranger's " + operation));
          assertThat(got.slug()).as(got.body()).isIn("not-found", "forbidden");
        },
        "lockstep.once");
  }

  /** A check of an operation. */
  private interface Check {
    void of(Operation operation) throws Exception;
  }

  /**
   * @param written the tables that may have more rows afterwards: a refusal is kept for its key
   */
  private static Stream<DynamicTest> forEach(
      Predicate<Operation> which, Check check, String... written) throws Exception {
    EveryRoute known = Objects.requireNonNull(routes);
    return known.operations().stream()
        .filter(which)
        .map(
            operation ->
                DynamicTest.dynamicTest(
                    operation.toString(),
                    () -> {
                      Map<String, Long> before = known.rows();
                      check.of(operation);
                      Map<String, Long> after = known.rows();
                      for (String table : written) {
                        before.remove(table);
                        after.remove(table);
                      }
                      assertThat(after.entrySet())
                          .as("rows that are new")
                          .isSubsetOf(before.entrySet());
                    }));
  }

  /** A body whose bytes are signed is not ours to read before the signature was checked. */
  private static boolean signed(Operation operation) {
    return operation.template().equals("/v1/webhooks/stripe");
  }

  private static Got raw(Operation operation, String target) throws IOException {
    byte[] body =
        operation.body().map(BadBodies::good).map(all -> all.get(0)).orElse("").getBytes(UTF_8);
    return exchange(operation, target, key(operation), body, Map.of("Idempotency-Key", "bad"));
  }

  private static Got send(Operation operation, byte[] body, Map<String, String> headers)
      throws IOException {
    Map<String, String> all = new LinkedHashMap<>(Map.of("Idempotency-Key", "bad"));
    all.putAll(headers);
    return exchange(operation, operation.path(), key(operation), body, all);
  }

  private static String key(Operation operation) {
    return "Bearer " + Objects.requireNonNull(routes).keyFor(operation);
  }

  private static Got exchange(
      Operation operation, String target, String key, byte[] body, Map<String, String> headers)
      throws IOException {
    return RawHttp.exchange(server.url(), operation.method() + " " + target, key, body, headers);
  }
}
