package dev.lockstep.server.api;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Logs failed and unreadable requests: one line per kind of fault and second, with a count, so that
 * neither a database in trouble nor a client fills the log. Our own faults are logged with stack
 * trace at most once per minute and kind. Thread-safe.
 */
public final class FaultLog {
  private static final Logger log = LoggerFactory.getLogger(FaultLog.class);

  private static final long LINE_NANOS = 1_000_000_000L;
  private static final long TRACE_NANOS = 60 * LINE_NANOS;

  /** Kinds are exception classes. There are few, but nothing here grows without bound. */
  private static final int MAX_KINDS = 200;

  private final Map<String, Kind> kinds = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;
  private final int maxKinds;

  public FaultLog() {
    this(System::nanoTime, MAX_KINDS);
  }

  FaultLog(LongSupplier nanoTime, int maxKinds) {
    this.nanoTime = nanoTime;
    this.maxKinds = maxKinds;
  }

  private static final class Kind {
    private final AtomicInteger unsaid = new AtomicInteger();
    private long lineAt;
    private long traceAt;

    private Kind(long now) {
      lineAt = now - LINE_NANOS;
      traceAt = now - TRACE_NANOS;
    }

    /** Whether this kind's last line is at least a second old. */
    private synchronized boolean takeLine(long now) {
      boolean due = now - lineAt >= LINE_NANOS;
      lineAt = due ? now : lineAt;
      return due;
    }

    private synchronized boolean takeTrace(long now) {
      boolean due = now - traceAt >= TRACE_NANOS;
      traceAt = due ? now : traceAt;
      return due;
    }
  }

  /**
   * Logs or counts a failed request.
   *
   * @param problem the answer to the request
   */
  public void failed(
      String requestId, String method, String path, Problem problem, Throwable thrown) {
    Throwable cause = Faults.causeOf(thrown);
    // Keeps a client's mistake and our own fault apart when they share a class.
    boolean theirs = problem.status() < 500;
    String name = (theirs ? "refused " : "") + cause.getClass().getSimpleName();
    long now = nanoTime.getAsLong();
    boolean own = kinds.containsKey(name) || kinds.size() < maxKinds;
    Kind kind = kinds.computeIfAbsent(own ? name : "others", unused -> new Kind(now));
    if (!kind.takeLine(now)) {
      kind.unsaid.incrementAndGet();
      return;
    }
    boolean ours = problem.status() == 500;
    LoggingEventBuilder line =
        log.atLevel(ours ? Level.ERROR : theirs ? Level.INFO : Level.WARN)
            .addKeyValue("request", requestId)
            .addKeyValue("method", method)
            .addKeyValue("path", path)
            .addKeyValue("status", problem.status());
    int more = kind.unsaid.getAndSet(0);
    String others = more == 0 ? "" : " (and " + more + " more like it since the last such line)";
    if (ours && kind.takeTrace(now)) {
      line.setCause(thrown).log("A request failed{}", others);
    } else {
      line.log(
          "A request {}: {}: {}{}",
          theirs ? "was refused" : "failed",
          cause.getClass().getSimpleName(),
          firstLine(cause),
          others);
    }
  }

  private static String firstLine(Throwable cause) {
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
  }
}
