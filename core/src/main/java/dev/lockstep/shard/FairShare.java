package dev.lockstep.shard;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.UUID;

/**
 * Computes equal shares, give or take one. Members that already own most keep the remainder, so a
 * balanced group stays unchanged. Members that look at slightly different moments may disagree; the
 * epochs keep their writes apart, and the next heartbeat corrects it.
 */
final class FairShare {
  private FairShare() {}

  /**
   * How many shards a member should own.
   *
   * @param owned how many shards each staying member owns
   * @return 0 for a member that is not staying
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
