package dev.lockstep.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class FaultLogTest {
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(FaultLog.class);
  private long now = 5_000_000_000L;
  private final FaultLog log = new FaultLog(() -> now, 3);

  @BeforeEach
  void listen() {
    lines.start();
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(lines);
    logger.setLevel(null);
  }

  @Test
  void aThousandFailuresOfOneKindAreOneLineASecondWithACount() {
    for (int i = 0; i < 1_000; i++) {
      fail(new IllegalArgumentException("no " + i));
    }
    assertThat(lines.list).hasSize(1);

    now += Duration.ofSeconds(1).toNanos();
    fail(new IllegalArgumentException("once more"));

    assertThat(lines.list).hasSize(2);
    assertThat(lines.list.get(1).getFormattedMessage()).contains("once more", "999 more like it");
  }

  @Test
  void anotherKindHasALineOfItsOwn() {
    fail(new IllegalArgumentException("one"));
    fail(new IllegalStateException("another"));

    assertThat(lines.list).hasSize(2);
  }

  @Test
  void aKnownKindKeepsItsLineWhenThereIsRoomForNoFurtherKind() {
    fail(new IllegalArgumentException("one"));
    fail(new IllegalStateException("two"));
    fail(new UnsupportedOperationException("three"));
    now += Duration.ofSeconds(1).toNanos();

    fail(new IllegalStateException("a known kind"));
    fail(new ArithmeticException("one of the others"));
    fail(new ArrayStoreException("another of the others"));

    assertThat(lines.list).as("one of its own, and one of all others").hasSize(5);
    assertThat(lines.list.get(3).getFormattedMessage()).contains("a known kind");
  }

  @Test
  void aFaultOfOursIsShownWholeOncePerMinute() {
    for (int second = 0; second < 61; second++) {
      fail(new IllegalStateException("ours"));
      now += Duration.ofSeconds(1).toNanos();
    }

    assertThat(lines.list).hasSize(61);
    assertThat(lines.list.stream().filter(line -> line.getThrowableProxy() != null)).hasSize(2);
  }

  @Test
  void aClientsMistakeIsCountedWithoutATraceAndHidesNoFaultOfOurs() {
    for (int i = 0; i < 1_000; i++) {
      log.failed(
          "r-1",
          "POST",
          "/v1/transfers",
          Problem.badRequest("no"),
          new NumberFormatException("their chunk"));
    }
    fail(new NumberFormatException("ours"));

    assertThat(lines.list).hasSize(2);
    assertThat(lines.list.get(0).getLevel()).isEqualTo(Level.INFO);
    assertThat(lines.list.get(0).getThrowableProxy()).isNull();
    assertThat(lines.list.get(0).getFormattedMessage())
        .isEqualTo("A request was refused: NumberFormatException: their chunk");
    assertThat(lines.list.get(1).getLevel()).isEqualTo(Level.ERROR);
  }

  private void fail(RuntimeException thrown) {
    log.failed("r-1", "GET", "/v1/campaigns", Problem.internal(), thrown);
  }
}
