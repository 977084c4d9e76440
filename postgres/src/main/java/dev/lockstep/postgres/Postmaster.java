package dev.lockstep.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server process of one data folder, controlled through {@code pg_ctl}. pg_ctl gives it its own
 * session, so Ctrl-C at the terminal does not reach it. The caller holds the folder's {@link
 * DirectoryLock}.
 */
final class Postmaster {

  private static final Logger log = LoggerFactory.getLogger(Postmaster.class);

  /** Crash recovery replays up to max_wal_size. A failing start is still noticed at once. */
  private static final Duration START_TIMEOUT = Duration.ofMinutes(5);

  /** For a stop that writes a checkpoint. */
  static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

  private static final Duration IMMEDIATE_STOP_TIMEOUT = Duration.ofSeconds(5);

  /** Time for killed processes to disappear; part of a stop's time. */
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(1);

  /** Lets pg_ctl time out first, with its own message, before we kill it. */
  private static final Duration PG_CTL_GRACE = Duration.ofSeconds(5);

  private static final long KILL_LOOK_MS = 10;

  private static final int LOG_LINES_SHOWN = 20;

  /** How a start ended. */
  enum Start {
    READY,
    PORT_TAKEN,
    OLD_PROCESSES_LEFT,
    FAILED
  }

  /** What an earlier server left. */
  enum Remains {
    NONE,
    /** It did not shut down cleanly; its processes may still be exiting. */
    PID_FILE,
    SERVER
  }

  private final Command command;
  private final Binaries binaries;
  private final Cluster cluster;
  private String lastWords = "";

  Postmaster(Command command, Binaries binaries, Cluster cluster) {
    this.command = command;
    this.binaries = binaries;
    this.cluster = cluster;
  }

  /** Starts the server and waits until it accepts connections. */
  Start start() throws IOException {
    cluster.rotateLog();
    long logStart = Files.exists(cluster.logFile()) ? Files.size(cluster.logFile()) : 0;
    Command.Result result =
        command.run(
            pgCtl("start", START_TIMEOUT, "--log=" + cluster.logFile()),
            START_TIMEOUT.plus(PG_CTL_GRACE));
    if (result.succeeded()) {
      return Start.READY;
    }
    // The process may be alive and merely slow; a failed start must leave nothing running.
    if (running().isPresent()) {
      stopImmediately();
    }
    String said = logSince(logStart);
    // If the disk is full, the log may be empty; then pg_ctl's output is all there is.
    lastWords = said.isBlank() ? result.output() : said;
    if (said.contains("Address already in use")) {
      return Start.PORT_TAKEN;
    }
    return said.contains("pre-existing shared memory block")
        ? Start.OLD_PROCESSES_LEFT
        : Start.FAILED;
  }

  /** Ends sessions, writes a checkpoint and exits. A server that is too slow or hangs is killed. */
  void stop(Duration within) throws IOException {
    if (running().isEmpty()) {
      return;
    }
    Duration fast = within.minus(KILL_TIMEOUT);
    if (fast.toSeconds() >= 1 && stopsFast(fast)) {
      return;
    }
    log.warn(
        "PostgreSQL in {} did not stop in time; killing it, the next start recovers",
        cluster.data());
    kill();
  }

  private boolean stopsFast(Duration within) {
    try {
      // No grace for pg_ctl: the remaining time is for killing.
      return command.run(pgCtl("stop", within, "--mode=fast"), within).succeeded();
    } catch (PostgresException e) {
      return false;
    }
  }

  /**
   * Exits without a checkpoint, like a power cut: the next start recovers from the log. A hanging
   * server is killed.
   */
  void stopImmediately() throws IOException {
    if (running().isEmpty()) {
      return;
    }
    Command.Result result =
        command.run(
            pgCtl("stop", IMMEDIATE_STOP_TIMEOUT, "--mode=immediate"),
            IMMEDIATE_STOP_TIMEOUT.plus(PG_CTL_GRACE));
    if (!result.succeeded()) {
      kill();
    }
  }

  /**
   * Sends SIGKILL, which stops even a frozen process. The server's other processes normally notice
   * and exit, but not while frozen, and a survivor would block the next server's shared memory. So
   * they are killed too, after the postmaster: before it, it would treat that as a crash and
   * restart them.
   */
  void kill() throws IOException {
    Optional<ProcessHandle> server = running();
    if (server.isEmpty()) {
      return;
    }
    List<ProcessHandle> others = server.get().descendants().toList();
    server.get().destroyForcibly();
    others.forEach(ProcessHandle::destroyForcibly);
    long deadline = System.nanoTime() + KILL_TIMEOUT.toNanos();
    while (running().isPresent()) {
      if (System.nanoTime() - deadline > 0) {
        throw new PostgresException(
            "PostgreSQL in %s (process %d) does not end although killed; end it by hand"
                .formatted(cluster.data(), server.get().pid()));
      }
      // Not onExit: that also waits until the parent has reaped the process.
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(KILL_LOOK_MS));
    }
  }

  /**
   * Prepares for a start. We hold the lock, so a server running here is ours or a dead owner's; it
   * is stopped. A stale pid file is removed, because PostgreSQL would refuse to start.
   *
   * @return what was found
   */
  Remains clear() throws IOException {
    Optional<ProcessHandle> left = running();
    if (left.isPresent()) {
      log.info("Stopping PostgreSQL process {}", left.get().pid());
      stop(STOP_TIMEOUT);
    }
    boolean pidFileLeft = Files.deleteIfExists(pidFile());
    if (left.isPresent()) {
      return Remains.SERVER;
    }
    return pidFileLeft ? Remains.PID_FILE : Remains.NONE;
  }

  /** The last start's final log lines, where the rest is, and what to do. */
  String whyItFailed() {
    Deque<String> tail = new ArrayDeque<>();
    for (String line : lastWords.lines().filter(line -> !line.isBlank()).toList()) {
      tail.addLast(line);
      if (tail.size() > LOG_LINES_SHOWN) {
        tail.removeFirst();
      }
    }
    String advice =
        lastWords.contains("No space left on device")
            ? "The disk is full: free some space, then start again. No committed data is lost."
            : "Fix what it names, then start again. The data were left as they are.";
    return "Its log, %s, ends with:%n%s%n%s"
        .formatted(
            cluster.logFile(), tail.isEmpty() ? "(nothing)" : String.join("\n", tail), advice);
  }

  /**
   * The process that serves this folder. The pid file alone is not enough: after a reboot the
   * number may belong to another program, which pg_ctl would then signal. So the process must also
   * be a {@code postgres} started on this folder.
   */
  Optional<ProcessHandle> running() throws IOException {
    List<String> lines;
    try {
      lines = Files.readAllLines(pidFile());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    if (lines.isEmpty() || !lines.get(0).strip().matches("[1-9][0-9]{0,9}")) {
      return Optional.empty();
    }
    return ProcessHandle.of(Long.parseLong(lines.get(0).strip())).filter(this::servesThisFolder);
  }

  /** Whether Linux knows that process as running, or cannot tell; false on other systems. */
  static boolean isThere(long pid) {
    Path stat = Path.of("/proc", Long.toString(pid), "stat");
    // Needs no file descriptor, unlike reading it.
    if (!Files.exists(stat)) {
      return false;
    }
    try {
      String line = Files.readString(stat, StandardCharsets.ISO_8859_1);
      char state = line.charAt(line.lastIndexOf(')') + 2);
      // A zombie has ended; nobody has asked yet how.
      return state != 'Z' && state != 'X';
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      return Files.exists(stat);
    }
  }

  private boolean servesThisFolder(ProcessHandle process) {
    ProcessHandle.Info info = process.info();
    String folder = cluster.data().toString();
    boolean postgres = info.command().map(path -> Path.of(path).endsWith("postgres")).orElse(false);
    return process.isAlive()
        && postgres
        && List.of(info.arguments().orElse(new String[0])).contains(folder);
  }

  private Path pidFile() {
    return cluster.data().resolve("postmaster.pid");
  }

  private List<String> pgCtl(String action, Duration timeout, String option) {
    return List.of(
        binaries.program("pg_ctl"),
        action,
        "--pgdata=" + cluster.data(),
        "--wait",
        "--timeout=" + timeout.toSeconds(),
        option);
  }

  private String logSince(long offset) throws IOException {
    if (!Files.exists(cluster.logFile())) {
      return "";
    }
    byte[] all = Files.readAllBytes(cluster.logFile());
    int from = (int) Math.min(offset, all.length);
    return new String(all, from, all.length - from, StandardCharsets.UTF_8);
  }
}
