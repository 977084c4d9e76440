package dev.lockstep.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A second JVM with this JVM's class path, to kill, pause and listen to.
 *
 * <p>Standard output and error arrive as one stream of lines, which a test awaits. The child dies
 * with its parent, and on {@link #close}. Thread-safe.
 */
public final class ChildJvm implements AutoCloseable {

  private static final Duration WAIT_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration SIGNAL_TIMEOUT = Duration.ofSeconds(10);

  private final String name;
  private final Process process;
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private final List<String> lines = new ArrayList<>();
  private int consumed;
  private boolean ended;

  private ChildJvm(String name, Process process) {
    this.name = name;
    this.process = process;
  }

  /** Starts {@code main(args)} of the class in a small JVM. */
  public static ChildJvm start(Class<?> main, String... args) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // A child lives for seconds: little memory, no optimising compiler.
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(ChildEntry.class.getName(), main.getName()));
    command.addAll(List.of(args));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      ChildJvm child = new ChildJvm(main.getSimpleName(), process);
      Thread reader = new Thread(child::readLines, "child-jvm-" + process.pid());
      reader.setDaemon(true);
      reader.start();
      return child;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Everything it has printed so far. */
  public List<String> lines() {
    guard.lock();
    try {
      return List.copyOf(lines);
    } finally {
      guard.unlock();
    }
  }

  /** Waits for a line equal to this. See {@link #awaitLine(Predicate)}. */
  public String awaitLine(String line) throws InterruptedException {
    return awaitLine(line::equals);
  }

  /**
   * Waits for the next line that matches and consumes the lines before it; later calls see only
   * what follows.
   *
   * @throws AssertionError with the child's output, if the child ends without it or 60 seconds pass
   */
  public String awaitLine(Predicate<String> wanted) throws InterruptedException {
    long left = WAIT_TIMEOUT.toNanos();
    guard.lock();
    try {
      while (true) {
        while (consumed < lines.size()) {
          String line = lines.get(consumed++);
          if (wanted.test(line)) {
            return line;
          }
        }
        if (ended || left <= 0) {
          String why =
              ended
                  ? " ended without the awaited line:\n"
                  : " did not print the awaited line in time:\n";
          throw new AssertionError(name + why + String.join("\n", lines));
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Writes a line to its standard input. */
  public void send(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it like {@code kill -9}, and returns when it is gone. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    awaitExit();
  }

  /**
   * Freezes it, like a long garbage collection or a suspended machine. On Linux it stands still
   * when this returns; elsewhere that may take a moment.
   */
  public void pause() {
    signal("STOP");
    awaitStandstill();
  }

  /** The kernel delivers the signal to one thread, and the others stop a moment later. */
  private void awaitStandstill() {
    Path threads = Path.of("/proc", Long.toString(pid()), "task");
    long deadline = System.nanoTime() + SIGNAL_TIMEOUT.toNanos();
    while (Files.isDirectory(threads) && !allStopped(threads)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(name + " does not stop");
      }
      Thread.onSpinWait();
    }
  }

  private static boolean allStopped(Path threads) {
    try (Stream<Path> all = Files.list(threads)) {
      return all.allMatch(ChildJvm::isStopped);
    } catch (IOException | UncheckedIOException e) {
      return false; // a thread ended while it was being looked at
    }
  }

  /** The state follows the name, which is in parentheses and may hold any character. */
  private static boolean isStopped(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"));
      return stat.startsWith("T", stat.lastIndexOf(')') + 2);
    } catch (IOException e) {
      return false;
    }
  }

  /** Ends {@link #pause}. */
  public void resume() {
    signal("CONT");
  }

  /**
   * Waits for its end.
   *
   * @return the exit code
   * @throws AssertionError if it does not end within 60 seconds
   */
  public int awaitExit() throws InterruptedException {
    if (!process.waitFor(WAIT_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError(name + " did not exit in time:\n" + String.join("\n", lines()));
    }
    return process.exitValue();
  }

  /** Kills it if it still runs. */
  @Override
  public void close() {
    try {
      kill();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void signal(String signal) {
    try {
      // The shell's built-in kill: small systems have no kill program.
      Process kill =
          new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid()).inheritIO().start();
      if (!kill.waitFor(SIGNAL_TIMEOUT.toSeconds(), TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new AssertionError("could not send SIG" + signal + " to " + name);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while sending SIG" + signal, e);
    }
  }

  private void readLines() {
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        String read = line;
        change(() -> lines.add(read));
      }
    } catch (IOException e) {
      change(() -> lines.add("(output lost: " + e + ")"));
    } finally {
      change(() -> ended = true);
    }
  }

  private void change(Runnable change) {
    guard.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      guard.unlock();
    }
  }
}
