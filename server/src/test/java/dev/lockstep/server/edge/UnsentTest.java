package dev.lockstep.server.edge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who is closed when too much waits to be taken. */
class UnsentTest {
  private static final long MIB = MemoryLimits.MIN_BYTES;

  private final Unsent unsent = new Unsent(MemoryLimits.DEFAULT.withUnsent(3 * MIB, 2 * MIB));
  private final List<String> closed = new ArrayList<>();

  @Test
  void ofOneAddressTheConnectionThatHasWaitedLongestIsClosed() {
    connection("a", "a1").set(MIB);
    connection("a", "a2").set(MIB);
    assertThat(closed).isEmpty();
    connection("a", "a3").set(MIB);
    assertThat(closed).containsExactly("a1");
    assertThat(unsent.bytes()).isEqualTo(2 * MIB);
  }

  @Test
  void whoTakesSomethingHasNotWaited() {
    Unsent.Account first = connection("a", "a1");
    first.set(MIB);
    connection("a", "a2").set(MIB / 2);
    first.set(MIB - 1);
    connection("a", "a3").set(MIB);
    assertThat(closed).containsExactly("a2");
  }

  @Test
  void moreThatIsSentDoesNotMakeTheWaitShorter() {
    Unsent.Account first = connection("a", "a1");
    first.set(MIB / 2);
    connection("a", "a2").set(MIB);
    first.set(MIB);
    connection("a", "a3").set(1);
    assertThat(closed).containsExactly("a1");
  }

  @Test
  void whenTheSumIsTooHighTheAddressWithTheMostMakesRoom() {
    connection("b", "b1").set(MIB);
    connection("a", "a1").set(MIB);
    connection("a", "a2").set(MIB);
    assertThat(closed).isEmpty();
    connection("c", "c1").set(1);
    assertThat(closed).containsExactly("a1");
    assertThat(unsent.bytes()).isEqualTo(2 * MIB + 1);
  }

  @Test
  void aTrustedProxyIsBoundedByTheSumAlone() {
    Unsent.Account proxy = unsent.of("p", false, () -> closed.add("p1"));
    proxy.set(3 * MIB);
    assertThat(closed).isEmpty();
    proxy.set(3 * MIB + 1);
    assertThat(closed).containsExactly("p1");
  }

  @Test
  void whatIsClosedCountsNoMore() {
    Unsent.Account first = connection("a", "a1");
    first.set(2 * MIB + 1);
    assertThat(closed).containsExactly("a1");
    assertThat(unsent.bytes()).isZero();
    first.set(MIB);
    first.set(0);
    assertThat(unsent.bytes()).isZero();
    connection("a", "a2").set(2 * MIB);
    assertThat(closed).containsExactly("a1");
  }

  private Unsent.Account connection(String network, String name) {
    return unsent.of(network, true, () -> closed.add(name));
  }
}
