package dev.lockstep.prove.node;

import dev.lockstep.prove.history.Fields;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A node's end of the pipe. Lines to the driver: {@code = id STATUS fields} answers a call, {@code
 * ? id verb fields} asks the driver, {@code ! verb fields} tells it something. The driver's lines:
 * {@code id verb fields} is a call, {@code ! id fields} answers a question. Thread-safe.
 */
public final class Pipe {
  private static final long PATIENCE_SECONDS = 30;

  private final PrintStream out;
  private final AtomicLong questions = new AtomicLong();
  private final Map<Long, CompletableFuture<Fields>> asked = new ConcurrentHashMap<>();

  Pipe(PrintStream out) {
    this.out = out;
  }

  void answer(String id, Answer answer) {
    send("= " + id + " " + answer.status() + " " + answer.fields().line());
  }

  /** Reports something without waiting. */
  void tell(String verb, Fields fields) {
    send("! " + verb + " " + fields.line());
  }

  /** Asks the driver, which decides in one order over all nodes. */
  Fields ask(String verb, Fields fields) throws InterruptedException {
    long id = questions.incrementAndGet();
    CompletableFuture<Fields> reply = new CompletableFuture<>();
    asked.put(id, reply);
    try {
      send("? " + id + " " + verb + " " + fields.line());
      return reply.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("The driver does not answer", e);
    } finally {
      asked.remove(id);
    }
  }

  void replied(long id, Fields fields) {
    CompletableFuture<Fields> reply = asked.get(id);
    if (reply != null) {
      reply.complete(fields);
    }
  }

  private synchronized void send(String line) {
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    out.write(bytes, 0, bytes.length);
    out.flush();
  }
}
