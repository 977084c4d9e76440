package dev.lockstep.server.draw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.server.campaign.Campaign.Prize;
import dev.lockstep.server.draw.Ranking.Winner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The test vector of docs/draw.md. */
class RankingTest {
  private static final byte[] SEED =
      HexFormat.of().parseHex("202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f");
  private static final EntrantList ENTRANTS =
      new EntrantList(
          List.of(
              new Entrant(1, 1, "p-1"),
              new Entrant(2, 1, "p-2"),
              new Entrant(2, 2, "p-3"),
              new Entrant(3, 1, "p-4"),
              new Entrant(3, 2, "p-5"),
              new Entrant(3, 3, "p-6")));

  @Test
  void theListHasOneTextAndOneHashInWhateverOrderItCame() {
    List<Entrant> reversed = new ArrayList<>(ENTRANTS.entrants());
    Collections.reverse(reversed);
    EntrantList list = new EntrantList(reversed);
    assertThat(list.canonical()).startsWith("1,1,1,p-1\n2,2,1,p-2\n").endsWith("3,3,3,p-6\n");
    assertThat(HexFormat.of().formatHex(list.hash()))
        .isEqualTo("b20fca161aec00ea5a9c4799f1bf8b9064990f6eae3eb5e84dce28cb2d099227");
    assertThat(EntrantList.parse(list.canonical())).isEqualTo(ENTRANTS);
  }

  @Test
  void layersAreOrderedAsNumbers() {
    EntrantList list = new EntrantList(List.of(new Entrant(10, 2, "b"), new Entrant(9, 1, "a")));
    assertThat(list.canonical()).isEqualTo("9,9,1,a\n10,10,2,b\n");
  }

  @Test
  void theWinnersAreThoseOfTheVector() {
    assertThat(
            Ranking.winners(
                SEED,
                ENTRANTS,
                Optional.empty(),
                List.of(new Prize("Grand prize", 1), new Prize("Runner-up", 2))))
        .containsExactly(
            new Winner("Grand prize", new Entrant(3, 3, "p-6")),
            new Winner("Runner-up", new Entrant(2, 1, "p-2")),
            new Winner("Runner-up", new Entrant(1, 1, "p-1")));
  }

  @Test
  void aBeaconGivesAnotherOrder() {
    byte[] beacon = HexFormat.of().parseHex("ff".repeat(Beacon.VALUE_BYTES));
    assertThat(
            Ranking.winners(SEED, ENTRANTS, Optional.of(beacon), List.of(new Prize("Prize", 100))))
        .extracting(winner -> winner.entrant().purchase())
        .containsExactly("p-1", "p-6", "p-5", "p-4", "p-2", "p-3");
  }

  @Test
  void aPurchaseThatWouldBlurTheListIsRefused() {
    for (String id : List.of("", "a,b", "a\nb", "a b", "ä")) {
      assertThatThrownBy(() -> new Entrant(1, 1, id)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
