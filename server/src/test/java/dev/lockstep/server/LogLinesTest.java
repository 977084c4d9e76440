package dev.lockstep.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** What others wrote begins no line of the text log and steers no terminal. */
class LogLinesTest {
  private static final String FORGED =
      "x\r\n13:00:00.000 ERROR Fake: forged\r13:00:00.000 ERROR Fake: forged\n"
          + "13:00:00.000 ERROR Fake: forged\u001b[31m\u2028\u0085\u009b31m";

  private final LoggerContext context = new LoggerContext();

  @BeforeEach
  void configure() throws Exception {
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(
        Repository.root().resolve("server/src/main/resources/logback.xml").toFile());
  }

  @Test
  void aMessageIsOneLine() {
    List<String> lines = written(event(null));

    assertThat(lines).hasSize(1);
    assertThat(lines.get(0)).contains("the answer was x??13:00:00.000 ERROR", "path=");
  }

  @Test
  void linesInTheMessageOfAnExceptionAreMarked() {
    Exception thrown = new IllegalStateException(FORGED, new IllegalArgumentException(FORGED));
    thrown.addSuppressed(new RuntimeException(FORGED));
    List<String> lines = written(event(thrown));

    assertThat(lines.get(0)).contains("the answer was");
    assertThat(lines.subList(1, lines.size()))
        .noneMatch(line -> line.startsWith("13:"))
        .anyMatch(line -> line.startsWith("| 13:00:00.000 ERROR Fake: forged?[31m"))
        .anyMatch(line -> line.startsWith("java.lang.IllegalStateException: x?"))
        .anyMatch(line -> line.startsWith("Caused by: java.lang.IllegalArgumentException: x?"))
        .anyMatch(line -> line.startsWith("\tSuppressed: java.lang.RuntimeException: x?"))
        .anyMatch(line -> line.startsWith("\tat dev.lockstep.server.LogLinesTest."));
  }

  @Test
  void nobodyWritesAStackTraceForEachConnection() {
    assertThat(
            List.of("com.zaxxer.hikari.pool.ProxyConnection", "io.netty.bootstrap.ServerBootstrap"))
        .noneMatch(name -> context.getLogger(name).isWarnEnabled())
        .allMatch(name -> context.getLogger(name).isErrorEnabled());
    assertThat(context.getLogger("com.zaxxer.hikari.pool.HikariPool").isWarnEnabled()).isTrue();
  }

  private LoggingEvent event(@Nullable Throwable thrown) {
    Logger logger = context.getLogger("dev.lockstep.server.Some");
    LoggingEvent event =
        new LoggingEvent(
            "", logger, Level.WARN, "the answer was {}", thrown, new Object[] {FORGED});
    event.addKeyValuePair(new KeyValuePair("path", FORGED));
    return event;
  }

  private List<String> written(LoggingEvent event) {
    OutputStreamAppender<ILoggingEvent> appender =
        (OutputStreamAppender<ILoggingEvent>)
            context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("text");
    String text = new String(appender.getEncoder().encode(event), UTF_8);
    assertThat(text).doesNotContain("\u001b", "\r", "\u2028", "\u0085", "\u009b").endsWith("\n");
    return List.of(text.split("\n", -1)).subList(0, text.split("\n", -1).length - 1);
  }
}
