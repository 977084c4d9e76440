package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.EventSource.Look;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** What needs no database: headers as text, partitions, receipts, pauses. */
class PurePartsTest {
  @Property(tries = 200)
  void headersComeBackAsTheyWere(
      @ForAll @Size(max = 5) Map<@From("names") String, @From("values") String> headers) {
    EventHeaders.require(headers);

    assertThat(EventHeaders.decode(EventHeaders.encode(headers)))
        .isEqualTo(new LinkedHashMap<>(headers));
  }

  @Provide
  Arbitrary<String> names() {
    return Arbitraries.strings().withChars("abz09!#$%&'*+.^_`|~-").ofMinLength(1).ofMaxLength(9);
  }

  @Provide
  Arbitrary<String> values() {
    return Arbitraries.strings().withChars("a :\\\"é☃").ofMaxLength(9);
  }

  @Property(tries = 200)
  void aPartitionIsOneOfThem(
      @ForAll String stream, @ForAll String key, @ForAll @IntRange(min = 1, max = 1024) int count) {
    assertThat((int) Partitioning.partOf(stream, key, count)).isBetween(0, count - 1);
  }

  @Test
  void keysSpreadOverThePartitions() {
    int[] counts = new int[16];
    for (int i = 0; i < 16_000; i++) {
      counts[Partitioning.partOf("trades", "portfolio-" + i, 16)]++;
    }
    assertThat(Arrays.stream(counts).boxed()).allMatch(count -> count > 800 && count < 1_200);
  }

  @Property(tries = 300)
  void aReceiptFollowsFromTheLastSequenceAlone(
      @ForAll @LongRange(min = 0, max = 20) long last,
      @ForAll @LongRange(min = 1, max = 20) long seq) {
    Receipt receipt = Inbox.receipt(last, seq);

    assertThat(receipt)
        .isEqualTo(
            seq == last + 1
                ? new Receipt.Accepted()
                : seq <= last ? new Receipt.Repeated(last) : new Receipt.Missing(last + 1));
  }

  @Test
  void answersOfTwoServersTogetherAreOfNeither() {
    Look one = new Look("one", 1, List.of());

    assertThat(one.and(new Look("one", 2, List.of()))).isEqualTo(new Look("one", 2, List.of()));
    assertThat(one.and(new Look("other", 1, List.of())).incarnation()).isEmpty();
    assertThat(one.and(new Look("", 1, List.of())).incarnation()).isEmpty();
  }

  @Test
  void aBreakerWaitsLongerEachTimeAndCountsWhatFailsTogetherOnce() {
    Breaker breaker = new Breaker(Duration.ofNanos(10), Duration.ofNanos(35));
    assertThat(breaker.isOpen(0)).isFalse();

    assertThat(breaker.trip(0, "first")).isTrue();
    assertThat(breaker.trip(5, "at the same time")).isFalse();
    assertThat(breaker.leftNanos(5)).isEqualTo(5);
    assertThat(breaker.reason()).isEqualTo("first");
    assertThat(breaker.isOpen(10)).isFalse();
    assertThat(breaker.isDown()).isTrue();
    breaker.trip(10, "second");
    assertThat(breaker.leftNanos(10)).isEqualTo(20);
    breaker.trip(30, "third");
    assertThat(breaker.leftNanos(30)).isEqualTo(35);

    breaker.reset();

    assertThat(breaker.isDown()).isFalse();
    breaker.trip(100, "again");
    assertThat(breaker.leftNanos(100)).isEqualTo(10);
  }
}
