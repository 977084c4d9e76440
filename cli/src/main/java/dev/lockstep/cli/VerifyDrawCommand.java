package dev.lockstep.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.lockstep.server.lifecycle.WrongUse;
import dev.lockstep.server.verify.DrawVerifier;
import dev.lockstep.server.verify.Verdict;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Recomputes a draw. Exit codes: 0 verified, 1 refused or unavailable, 2 wrong use. */
@Command(
    name = "verify-draw",
    description = "Recompute a draw from its published document, without server or database.")
final class VerifyDrawCommand implements Callable<Integer> {
  private static final int MAX_BYTES = 4 * 1024 * 1024;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);
  private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://.*");

  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  @Parameters(
      index = "0",
      paramLabel = "FILE|URL",
      description = "The document that GET /v1/campaigns/{id}/draw gives; http or https.")
  private String source;

  @Option(
      names = "--commitment",
      paramLabel = "HEX",
      description = "The commitment as you noted it before the draw; compared with the document's.")
  private @Nullable String commitment;

  @Option(names = "--json", description = "One JSON object instead of a table.")
  private boolean json;

  @Mixin private final Console console = new Console();

  /** The document is unavailable; the message is one line for the user. */
  private static final class CannotRead extends Exception {
    private static final long serialVersionUID = 1L;

    CannotRead(String message) {
      super(message);
    }
  }

  @Override
  public Integer call() throws InterruptedException {
    if (commitment != null && !commitment.matches("[0-9A-Fa-f]{64}")) {
      throw new WrongUse("--commitment has 64 hexadecimal digits");
    }
    String document;
    try {
      document = SCHEME.matcher(source).matches() ? fetch(source) : read(source);
    } catch (CannotRead e) {
      return console.fail(String.valueOf(e.getMessage()));
    }
    Verdict verdict = DrawVerifier.verify(document, Optional.ofNullable(commitment));
    console.print(json ? asJson(verdict).encodePrettily() + "\n" : asTable(verdict));
    return verdict.ok() ? 0 : 1;
  }

  private static String asTable(Verdict verdict) {
    StringBuilder text = new StringBuilder(verdict.subject()).append("\n\n");
    for (Verdict.Check check : verdict.checks()) {
      text.append(
          "  %-7s %-11s %s%n"
              .formatted(check.ok() ? "ok" : "DIFFERS", check.what(), check.detail()));
    }
    long failed = verdict.checks().stream().filter(check -> !check.ok()).count();
    text.append('\n')
        .append(
            verdict.ok()
                ? "Verified: the winners follow from the seed and the entrants."
                : "Refused: %d of %d checks failed.".formatted(failed, verdict.checks().size()));
    return text.append('\n').toString();
  }

  private static JsonObject asJson(Verdict verdict) {
    JsonArray checks = new JsonArray();
    verdict
        .checks()
        .forEach(
            check ->
                checks.add(
                    new JsonObject()
                        .put("what", check.what())
                        .put("ok", check.ok())
                        .put("detail", check.detail())));
    return new JsonObject()
        .put("ok", verdict.ok())
        .put("subject", verdict.subject())
        .put("checks", checks);
  }

  private static String read(String file) throws CannotRead {
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      return text(in, file);
    } catch (InvalidPathException | IOException e) {
      throw new WrongUse("cannot read the file '" + file + "'");
    }
  }

  /** Redirects are not followed: the user decides whom to trust. */
  private static String fetch(String url) throws CannotRead, InterruptedException {
    String scheme = url.substring(0, url.indexOf(':')).toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw new WrongUse("a URL begins with http:// or https://, not " + scheme + "://");
    }
    HttpRequest request;
    try {
      request = HttpRequest.newBuilder(URI.create(url)).timeout(READ_TIMEOUT).build();
    } catch (IllegalArgumentException e) {
      throw new WrongUse("this is no URL: '" + url + "'");
    }
    HttpClient client = HttpClient.newBuilder().connectTimeout(CONNECT_TIMEOUT).build();
    try {
      HttpResponse<InputStream> response =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream in = response.body()) {
        if (response.statusCode() != 200) {
          throw new CannotRead(url + " answered with status " + response.statusCode());
        }
        return text(in, url);
      }
    } catch (IOException e) {
      throw new CannotRead("cannot reach " + url + ": " + e.getClass().getSimpleName());
    }
  }

  private static String text(InputStream in, String source) throws IOException, CannotRead {
    byte[] bytes = in.readNBytes(MAX_BYTES + 1);
    if (bytes.length > MAX_BYTES) {
      throw new CannotRead(source + " is larger than " + MAX_BYTES + " bytes");
    }
    return new String(bytes, UTF_8);
  }
}
