package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType.LaunchOptions;
import com.microsoft.playwright.ConsoleMessage;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * The system's own Chromium, one for the whole run, driven by Playwright. Each {@link #person} has
 * a window and cookies of its own. After each test no page may have logged an error, thrown, or
 * broken its content security policy.
 */
final class Chromium implements BeforeAllCallback, AfterEachCallback {
  /** Nothing is waited for longer; reached only when a test fails. */
  private static final double TIMEOUT_MS = 60_000;

  /** A refusal that the page explains is logged by the browser all the same. */
  private static final String REFUSED =
      "Failed to load resource: the server responded with a status of 4";

  private static final List<String> PLACES =
      List.of(
          "/usr/bin/chromium",
          "/usr/bin/chromium-browser",
          "/usr/bin/google-chrome",
          "/usr/bin/google-chrome-stable",
          "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
          "/Applications/Chromium.app/Contents/MacOS/Chromium");

  private record Running(Playwright playwright, Browser browser) implements AutoCloseable {
    @Override
    public void close() {
      browser.close();
      playwright.close();
    }
  }

  private final List<BrowserContext> open = new ArrayList<>();
  private final List<String> complaints = new ArrayList<>();
  private @Nullable Running running;

  @Override
  public void beforeAll(ExtensionContext context) {
    running =
        context
            .getRoot()
            .getStore(Namespace.create(Chromium.class))
            .getOrComputeIfAbsent(Running.class, type -> start(), Running.class);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    open.forEach(BrowserContext::close);
    open.clear();
    List<String> heard = List.copyOf(complaints);
    complaints.clear();
    assertThat(heard).as("what the browser complained of").isEmpty();
  }

  /** What this test itself has made the browser complain of. */
  void forgive(String part) {
    complaints.removeIf(complaint -> complaint.contains(part));
  }

  /** A new person at a desk. */
  Page person() {
    return person(1280, 900, ColorScheme.LIGHT);
  }

  Page person(int width, int height, ColorScheme scheme) {
    BrowserContext context =
        Objects.requireNonNull(running)
            .browser()
            .newContext(
                new Browser.NewContextOptions()
                    .setViewportSize(width, height)
                    .setColorScheme(scheme)
                    .setReducedMotion(ReducedMotion.REDUCE)
                    .setLocale("en-GB")
                    .setTimezoneId("UTC"));
    context.setDefaultTimeout(TIMEOUT_MS);
    context.setDefaultNavigationTimeout(TIMEOUT_MS);
    open.add(context);
    Page page = context.newPage();
    page.onConsoleMessage(this::listen);
    page.onPageError(error -> complaints.add("thrown: " + error));
    return page;
  }

  private void listen(ConsoleMessage message) {
    boolean bad = message.type().equals("error") || message.type().equals("warning");
    if (bad && !message.text().startsWith(REFUSED)) {
      complaints.add(message.type() + " at " + message.location() + ": " + message.text());
    }
  }

  private static Running start() {
    PlaywrightAssertions.setDefaultAssertionTimeout(TIMEOUT_MS);
    Path program = find();
    // The browser is the system's: Playwright brings only its driver, from Maven.
    Playwright playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    Browser browser =
        playwright
            .chromium()
            .launch(
                new LaunchOptions()
                    .setExecutablePath(program)
                    .setHeadless(true)
                    .setChromiumSandbox(false)
                    .setArgs(
                        List.of(
                            "--disable-gpu",
                            "--disable-quic",
                            "--no-first-run",
                            "--disable-background-networking",
                            "--disable-component-update",
                            "--disable-sync")));
    return new Running(playwright, browser);
  }

  private static Path find() {
    return Stream.concat(Stream.ofNullable(System.getenv("LOCKSTEP_CHROMIUM")), PLACES.stream())
        .map(Path::of)
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(
            () ->
                new AssertionError(
                    "The browser tests need a Chromium and found none; install it (Debian:"
                        + " apt-get install chromium) or name it in LOCKSTEP_CHROMIUM."));
  }
}
