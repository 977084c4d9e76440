package dev.lockstep.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.management.ThreadMXBean;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonBodyTest {
  private static final int MIB = 1 << 20;

  /** Reading allocates a few objects per value; 130 bytes per byte is far above, and a bound. */
  private static final long MOST_ALLOCATED = 130L * MIB;

  /**
   * The place of every item written down would be 15 KB for each of 500,000 items. Allocation is
   * counted instead of time: it is the same on every machine.
   */
  @Test
  void aLongPathIsNotWrittenDownForEveryItem() {
    int levels = JsonBody.MAX_DEPTH - 2;
    String name = "{\"" + "n".repeat(250) + "\":";
    String nested = name.repeat(levels) + "[";
    String body = nested + "0,".repeat((MIB - nested.length()) / 2) + "0]" + "}".repeat(levels);

    assertThat(allocatedBy(() -> JsonBody.parse(Buffer.buffer(body), false)))
        .isLessThan(MOST_ALLOCATED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0,", "1e9,", "\"\",", "[],", "{},", "{\"a\":0},", "[[[[]]]],", "-0.5E-3,"})
  void readingABodyAllocatesInProportionToItsLength(String item) {
    String body = "{\"a\":[" + item.repeat(MIB / item.length()) + "0]}";

    assertThat(allocatedBy(() -> JsonBody.parse(Buffer.buffer(body), false)))
        .isLessThan(MOST_ALLOCATED);
  }

  @Test
  void aNameIsAsLongAsItMayBeAndNoLonger() {
    String longest = "n".repeat(JsonBody.MAX_NAME_LENGTH);

    assertThat(JsonBody.parse(Buffer.buffer("{\"a\":[{\"" + longest + "\":1}]}"), false))
        .isInstanceOf(JsonObject.class);
    Problem problem = refused("{\"a\":[0,{\"" + longest + "n\":1}]}");
    assertThat(problem.slug()).isEqualTo("invalid-request");
    assertThat(problem.status()).isEqualTo(400);
    assertThat(problem.fields()).containsEntry("field", "a[1]");
    assertThat(problem.detail())
        .isEqualTo("a[1] must not have a name of more than 256 characters.");
  }

  @Test
  void aProblemNamesThePlace() {
    assertThat(refused("{\"a\":[0,{\"b\":[\"x\",{\"c\":\"\\u0000\"}]}]}").fields())
        .containsEntry("field", "a[1].b[1].c");
    assertThat(refused("{\"a\":{\"b\":1},\"c\":\"\\ud800\"}").fields()).containsEntry("field", "c");
    assertThat(refused("{\"a\\u0000\":1}").fields()).containsEntry("field", "The body");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "\\a", "\\\""})
  void aLongQuotedParameterOfTheContentTypeIsRead(String unit) {
    String quoted = "\"" + unit.repeat(8_000 / unit.length()) + "\"";

    assertThatCode(() -> JsonBody.requireJson(List.of("application/json; x=" + quoted), null))
        .doesNotThrowAnyException();
    assertThat(
            catchThrowableOfType(
                    ProblemException.class,
                    () ->
                        JsonBody.requireJson(List.of("application/json; x=" + quoted + "!"), null))
                .problem()
                .status())
        .isEqualTo(415);
  }

  private static Problem refused(String body) {
    return catchThrowableOfType(
            ProblemException.class, () -> JsonBody.parse(Buffer.buffer(body), false))
        .problem();
  }

  private static long allocatedBy(Runnable work) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    work.run();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
