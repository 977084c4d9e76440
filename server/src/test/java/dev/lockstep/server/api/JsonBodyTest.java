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
import org.junit.jupiter.params.provider.CsvSource;
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
  @CsvSource({
    "1e400, must be a number in the range of a double.",
    "-1e400, must be a number in the range of a double.",
    "1e-400, must be a number in the range of a double.",
    "1e1000000000, must be a number in the range of a double.",
    "0.333333333333333333, 'must have at most 17 digits, or be sent as a text: as a double it"
        + " would be rounded.'",
    "123456789012345678.5, 'must have at most 17 digits, or be sent as a text: as a double it"
        + " would be rounded.'"
  })
  void aNumberThatWouldBeChangedIsRefusedByName(String number, String why) {
    Problem problem = refused("{\"a\":[0,{\"b\":" + number + "}]}");
    assertThat(problem.slug()).isEqualTo("invalid-request");
    assertThat(problem.fields()).containsEntry("field", "a[1].b");
    assertThat(problem.detail()).isEqualTo("a[1].b " + why);
  }

  @ParameterizedTest
  @ValueSource(strings = {"%s", "-%s", "%s.5", "0.%s", "1e%s"})
  void aNumberTooLongIsRefusedByName(String form) {
    Problem problem = refused("{\"a\":" + form.formatted("9".repeat(50_000)) + "}");

    assertThat(problem.slug()).isEqualTo("invalid-request");
    assertThat(problem.fields()).containsEntry("field", "a");
    assertThat(problem.detail()).isEqualTo("a must be a number of at most 100 characters.");
  }

  @Test
  void aNumberKeepsItsValue() {
    String digits = "9".repeat(JsonBody.MAX_NUMBER_LENGTH);
    String body =
        """
        {"a":[0,-0,7,2147483648,9223372036854775808,%s,0.1,1.0,-0.0,1e2,
        0.10000000000000001,1.10000000000000000000000000000,1.7976931348623157e308,4.9e-324]}"""
            .formatted(digits);

    assertThat(((JsonObject) JsonBody.parse(Buffer.buffer(body), false)).encode())
        .isEqualTo(
            """
            {"a":[0,0,7,2147483648,9223372036854775808,%s,0.1,1.0,-0.0,100.0,\
            0.1,1.1,1.7976931348623157E308,4.9E-324]}"""
                .formatted(digits));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.0", "1e0", "10E-1", "1.5"})
  void aWholeNumberIsWrittenInDigits(String number) {
    Object body = JsonBody.parse(Buffer.buffer("{\"n\":" + number + "}"), false);

    Problem problem =
        catchThrowableOfType(
                ProblemException.class,
                () -> Shape.object().required("n", Shape.integer(1, 5)).check("", body))
            .problem();
    assertThat(problem.fields()).containsEntry("field", "n");
    assertThat(problem.detail())
        .isEqualTo(
            "n must be a whole number from 1 to 5, written without a fraction or an exponent.");
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
