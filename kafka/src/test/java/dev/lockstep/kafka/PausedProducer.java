package dev.lockstep.kafka;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;

/**
 * The producer of a relay that is about to be stopped: at a place of the first transaction it says
 * so and goes on when it is told. It says what came of it; whoever comes after it in this process
 * never goes on, and nothing closes it, as if nobody had noticed anything.
 */
final class PausedProducer extends KafkaProducer<byte[], byte[]> {
  static final String HOLDING = "holding";
  static final String PUBLISHED = "published";
  static final String REFUSED = "refused ";

  /** Where it stops, and on what the order rests. */
  enum Kind {
    BEFORE_SENDING,
    BEFORE_COMMIT,
    /** As most relays do it: an idempotent producer, which nobody can fence. */
    NAIVE_BEFORE_SENDING
  }

  private static final AtomicBoolean held = new AtomicBoolean();

  private final Kind kind;

  PausedProducer(Map<String, Object> settings, Kind kind) {
    super(kind == Kind.NAIVE_BEFORE_SENDING ? withoutId(settings) : settings);
    this.kind = kind;
  }

  private static Map<String, Object> withoutId(Map<String, Object> settings) {
    Map<String, Object> rest = new HashMap<>(settings);
    rest.remove("transactional.id");
    return rest;
  }

  @Override
  public void initTransactions() {
    if (kind != Kind.NAIVE_BEFORE_SENDING) {
      super.initTransactions();
    }
  }

  @Override
  public void beginTransaction() {
    if (kind == Kind.NAIVE_BEFORE_SENDING) {
      hold();
      return;
    }
    if (kind == Kind.BEFORE_SENDING) {
      hold();
    }
    super.beginTransaction();
  }

  @Override
  public void commitTransaction() {
    super.flush();
    try {
      if (kind == Kind.BEFORE_COMMIT) {
        hold();
      }
      if (kind != Kind.NAIVE_BEFORE_SENDING) {
        super.commitTransaction();
      }
      say(PUBLISHED);
    } catch (KafkaException e) {
      say(REFUSED + e);
      throw e;
    }
  }

  @Override
  public void abortTransaction() {
    say(REFUSED + "before the commit");
    if (kind != Kind.NAIVE_BEFORE_SENDING) {
      super.abortTransaction();
    }
  }

  @Override
  public void close(Duration timeout) {}

  private static void hold() {
    try {
      if (!held.compareAndSet(false, true)) {
        new CountDownLatch(1).await();
      }
      say(HOLDING);
      if (System.in.read() < 0) {
        throw new IllegalStateException("The test is gone");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void say(String line) {
    System.out.println(line);
  }
}
