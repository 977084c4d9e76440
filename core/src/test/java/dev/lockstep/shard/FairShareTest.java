package dev.lockstep.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Shares on paper, without a database. */
class FairShareTest {

  @Property
  void sharesAddUpAndDifferByAtMostOne(
      @ForAll @Size(min = 1, max = 40) List<@IntRange(max = 50) Integer> owned,
      @ForAll @IntRange(min = 1, max = 1024) int shards) {
    Map<UUID, Integer> group = group(owned);

    List<Integer> shares =
        group.keySet().stream().map(member -> FairShare.of(member, group, shards)).toList();

    assertThat(shares.stream().mapToInt(Integer::intValue).sum()).isEqualTo(shards);
    assertThat(shares)
        .allMatch(share -> share == shards / group.size() || share == shards / group.size() + 1);
  }

  @Property
  void aBalancedGroupMovesNothing(
      @ForAll @IntRange(min = 1, max = 40) int members,
      @ForAll @IntRange(min = 1, max = 1024) int shards) {
    Map<UUID, Integer> group = new HashMap<>();
    for (int i = 0; i < members; i++) {
      group.put(UUID.randomUUID(), shards / members + (i < shards % members ? 1 : 0));
    }

    assertThat(group)
        .allSatisfy(
            (member, owned) -> assertThat(FairShare.of(member, group, shards)).isEqualTo(owned));
  }

  @Property
  void whoHasMoreNeverGetsLessThanWhoHasLess(
      @ForAll @Size(min = 2, max = 10) List<@IntRange(max = 50) Integer> owned,
      @ForAll @IntRange(min = 1, max = 64) int shards) {
    Map<UUID, Integer> group = group(owned);

    group.forEach(
        (rich, more) ->
            group.forEach(
                (poor, less) -> {
                  if (more > less) {
                    assertThat(FairShare.of(rich, group, shards))
                        .isGreaterThanOrEqualTo(FairShare.of(poor, group, shards));
                  }
                }));
  }

  @Property(tries = 20)
  void aStrangerAndAMemberOnItsWayOutGetNothing(@ForAll @IntRange(min = 1, max = 64) int shards) {
    assertThat(FairShare.of(UUID.randomUUID(), group(List.of(1, 2, 3)), shards)).isZero();
  }

  private static Map<UUID, Integer> group(List<Integer> owned) {
    Map<UUID, Integer> group = new HashMap<>();
    owned.forEach(count -> group.put(UUID.randomUUID(), count));
    return group;
  }
}
