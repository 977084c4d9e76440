package dev.lockstep.shard;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.UUID;

/**
 * Equal shares, give or take one. Who has most already keeps the one that is left over, so that a
 * group which is balanced stays as it is. Members that look at slightly different moments may
 * disagree; the epochs keep them apart, and the next look corrects it.
 */
final class FairShare {
  private FairShare() {}

  /**
   * How many shards a member should own.
   *
   * @param owned by each member that is to stay
   * @return 0 for one that is not among them
   */
  static int of(UUID member, Map<UUID, Integer> owned, int shards) {
    if (!owned.containsKey(member)) {
      return 0;
    }
    List<UUID> byNeed =
        owned.entrySet().stream()
            .sorted(
                Comparator.comparing((Entry<UUID, Integer> entry) -> -entry.getValue())
                    .thenComparing(Entry::getKey))
            .map(Entry::getKey)
            .toList();
    int leftOver = shards % owned.size();
    return shards / owned.size() + (byNeed.indexOf(member) < leftOver ? 1 : 0);
  }
}
