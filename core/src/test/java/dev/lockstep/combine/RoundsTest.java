package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RoundsTest {
  private final Rounds<Integer> rounds = new Rounds<>();
  private final Set<Integer> locked = new TreeSet<>();
  private final List<Integer> visited = new ArrayList<>();

  @Test
  void everyKeyHasItsTurnAndWhatTheyReturnIsSummedUp() {
    assertThat(round(1, 2, 3)).isEqualTo(6);
    assertThat(visited).containsExactly(1, 2, 3);
  }

  @Test
  void aKeyThatFailsKeepsNoOtherFromItsTurnAndIsToldInTheEnd() {
    locked.addAll(Set.of(1, 3));

    assertThatThrownBy(() -> round(1, 2, 3, 4))
        .hasMessage("1 is locked")
        .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(1));
    assertThat(visited).containsExactly(1, 2, 3, 4);
  }

  @Test
  void whatFailedComesLastAndOneOfThemThatStillFailsIsEnoughForARound() {
    locked.addAll(Set.of(1, 2));
    failingRound(1, 2, 3);

    failingRound(1, 2, 3);
    assertThat(visited).as("the first of them fails again").containsExactly(3, 1);
    failingRound(1, 2, 3);
    assertThat(visited).as("then it is the other's turn").containsExactly(3, 2);
    locked.clear();
    visited.clear();
    assertThat(round(1, 2, 3)).isEqualTo(6);
    assertThat(visited).containsExactly(3, 1, 2);
    visited.clear();
    round(1, 2, 3);
    assertThat(visited).containsExactly(1, 2, 3);
  }

  @Test
  void aKeyThatIsNoLongerAskedForIsForgotten() {
    locked.add(1);
    failingRound(1, 2);
    failingRound(2, 1);
    locked.clear();
    visited.clear();
    round(2);
    round(1, 2);
    assertThat(visited).containsExactly(2, 1, 2);
  }

  @Test
  void anInterruptedThreadStopsAtTheFirstFailure() {
    locked.add(1);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> round(1, 2)).hasMessage("1 is locked");
      assertThat(visited).containsExactly(1);
    } finally {
      Thread.interrupted();
    }
  }

  private void failingRound(Integer... keys) {
    visited.clear();
    assertThat(catchThrowable(() -> round(keys))).isInstanceOf(IllegalStateException.class);
  }

  private int round(Integer... keys) {
    return rounds.each(
        List.of(keys),
        key -> {
          visited.add(key);
          if (locked.contains(key)) {
            throw new IllegalStateException(key + " is locked");
          }
          return key;
        });
  }
}
