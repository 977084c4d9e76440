package dev.lockstep.prove.fault;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Status;
import dev.lockstep.prove.node.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** A node's process and the driver's end of its pipe. Thread-safe. */
final class NodeProcess implements AutoCloseable {
  private static final Duration SIGNAL_TIMEOUT = Duration.ofSeconds(10);

  /** Hears what a node reports or asks unprompted. */
  interface Listener {
    void told(int node, String verb, Fields fields);

    Fields asked(int node, String verb, Fields fields);
  }

  private final int node;
  private final Process process;
  private final Listener listener;
  private final ExecutorService threads;
  private final OutputStream out;
  private final AtomicLong ids = new AtomicLong();
  private final Map<Long, CompletableFuture<Answer>> pending = new ConcurrentHashMap<>();
  private final CountDownLatch ready = new CountDownLatch(1);
  private volatile boolean gone;
  private volatile boolean leaving;

  private NodeProcess(int node, Process process, Listener listener, ExecutorService threads) {
    this.node = node;
    this.process = process;
    this.listener = listener;
    this.threads = threads;
    this.out = process.getOutputStream();
  }

  /**
   * Starts a process.
   *
   * @param main takes the one argument, says {@code ! ready} and ends when its input does
   */
  static NodeProcess start(
      int node,
      Class<?> main,
      String argument,
      Path log,
      Listener listener,
      ExecutorService threads) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx320m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-Dfile.encoding=UTF-8",
            "-Duser.timezone=UTC",
            "-cp",
            System.getProperty("java.class.path"),
            main.getName(),
            argument);
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
      NodeProcess started = new NodeProcess(node, process, listener, threads);
      Thread reader = new Thread(started::read, "node-" + node);
      reader.setDaemon(true);
      reader.start();
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean awaitReady(Duration patience) throws InterruptedException {
    return ready.await(patience.toMillis(), TimeUnit.MILLISECONDS) && !gone;
  }

  boolean isGone() {
    return gone || !process.isAlive();
  }

  /** Whether it has started and takes calls. */
  boolean isReady() {
    return ready.getCount() == 0 && !leaving && !isGone();
  }

  /** Calls a verb; whatever goes wrong once it is sent leaves the outcome unknown. */
  Answer call(String verb, Fields fields, Duration patience) throws InterruptedException {
    if (isGone()) {
      return Answer.failed("the node is down");
    }
    long id = ids.incrementAndGet();
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    pending.put(id, answer);
    try {
      if (!send(id + " " + verb + " " + fields.line())) {
        return Answer.unknown("the node ended");
      }
      if (gone) {
        return Answer.unknown("the node ended");
      }
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return Answer.unknown("no answer in time");
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } finally {
      pending.remove(id);
    }
  }

  private boolean send(String line) {
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      synchronized (out) {
        out.write(bytes);
        out.flush();
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void read() {
    try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        take(line);
      }
    } catch (IOException e) {
      // The process was killed.
    } finally {
      gone = true;
      ready.countDown();
      pending.values().forEach(answer -> answer.complete(Answer.unknown("the node died")));
    }
  }

  private void take(String line) {
    String[] words = line.split(" ", 4);
    switch (words[0]) {
      case "=" -> {
        CompletableFuture<Answer> answer = pending.get(Long.parseLong(words[1]));
        if (answer != null) {
          answer.complete(new Answer(Status.valueOf(words[2]), Fields.parse(words[3])));
        }
      }
      case "!" -> {
        if (words[1].equals("ready")) {
          ready.countDown();
        } else {
          listener.told(node, words[1], Fields.parse(words[2]));
        }
      }
      case "?" ->
          threads.execute(
              () -> {
                Fields reply = listener.asked(node, words[2], Fields.parse(words[3]));
                send("! " + words[1] + " " + reply.line());
              });
      default -> throw new IllegalStateException("A node said: " + line);
    }
  }

  void pause() {
    signal("STOP");
  }

  void resume() {
    signal("CONT");
  }

  private void signal(String signal) {
    try {
      // The shell's built-in kill: small systems have no kill program.
      Process kill =
          new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid())
              .redirectErrorStream(true)
              .start();
      kill.waitFor(SIGNAL_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** Ends in order, by force if it takes too long. */
  void leave(Duration patience) throws InterruptedException {
    leaving = true;
    send("0 leave -");
    if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
      kill();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
