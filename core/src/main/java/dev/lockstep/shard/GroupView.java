package dev.lockstep.shard;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A group as one heartbeat saw it. */
record GroupView(List<ShardRow> shards, List<MemberRow> members) {

  record ShardRow(int shard, long epoch, @Nullable UUID owner) {}

  record MemberRow(UUID member, String node, boolean leaving) {}

  /** Shards without a live owner. */
  List<ShardRow> free() {
    Set<UUID> alive = new HashSet<>();
    members.forEach(row -> alive.add(row.member()));
    return shards.stream()
        .filter(row -> row.owner() == null || !alive.contains(row.owner()))
        .toList();
  }

  /** How many shards each staying member owns. */
  Map<UUID, Integer> ownedByStaying() {
    Map<UUID, Integer> owned = new HashMap<>();
    members.stream().filter(row -> !row.leaving()).forEach(row -> owned.put(row.member(), 0));
    for (ShardRow row : shards) {
      if (row.owner() != null) {
        owned.computeIfPresent(row.owner(), (member, count) -> count + 1);
      }
    }
    return owned;
  }
}
