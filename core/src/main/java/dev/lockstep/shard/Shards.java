package dev.lockstep.shard;

import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * A node's part in a group: the shards it owns, kept by heartbeats and balanced with the other
 * nodes.
 *
 * <p>Starts nothing until {@link #start}. {@link #close} hands everything over, or leaves it to be
 * taken over when that takes too long. Thread-safe.
 */
public final class Shards implements AutoCloseable {
  private final ShardsConfig config;
  private final ShardTable table;
  private final Engine engine;

  /**
   * Makes the group's rows if they are not there yet.
   *
   * @param transactor for transactions of its own; never one of the caller's
   * @param listener hears of shards that come and go
   * @throws IllegalStateException if the group exists with another number of shards
   */
  public Shards(Transactor transactor, ShardsConfig config, ShardListener listener) {
    this.config = config;
    this.table = new ShardTable(transactor, config);
    int actual = table.create(config.shards());
    if (actual != config.shards()) {
      throw new IllegalStateException(ShardCount.mismatch(config.group(), actual, config.shards()));
    }
    this.engine = new Engine(table, config, listener);
  }

  /** What those agree on who write for a group, whether or not they own shards of it. */
  public static ShardCount count(String group, int shards) {
    return new ShardCount(group, shards);
  }

  /**
   * Joins the group and begins to take shards.
   *
   * @throws IllegalStateException if called twice, or after {@link #close}
   */
  public void start() {
    engine.start();
  }

  public ShardsConfig config() {
    return config;
  }

  /** What this node owns at this moment, as far as it knows; by shard. */
  public List<Lease> owned() {
    return engine.owned();
  }

  /** Who owns what in the whole group, as the database has it. */
  public List<ShardOwner> owners() {
    GroupView view = table.look();
    Map<UUID, String> nodes = new HashMap<>();
    view.members().forEach(member -> nodes.put(member.member(), member.node()));
    return view.shards().stream()
        .map(
            row ->
                new ShardOwner(
                    row.shard(), row.epoch(), Optional.ofNullable(row.owner()).map(nodes::get)))
        .sorted(Comparator.comparingInt(ShardOwner::shard))
        .collect(Collectors.toList());
  }

  /** All members that nobody has taken for dead, of all nodes. */
  public Set<UUID> members() {
    return table.look().members().stream()
        .map(GroupView.MemberRow::member)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Which of these members are gone, in the caller's transaction, for who acts in their place
   * without taking their shards. Takes those for dead whose lease has passed. One that is alive
   * after all finds out with its next heartbeat, and comes back as another member.
   *
   * @return from the COMMIT on nothing is accepted that is written under a lease of these. One that
   *     writes at this moment is not among them yet; nobody waits for it
   */
  public static Set<UUID> gone(Connection connection, String group, Collection<UUID> members)
      throws SQLException {
    return ShardTable.gone(connection, group, members);
  }

  /**
   * What keeps this node from its part, if anything does: heartbeats that do not get through, or a
   * shard that the listener could not take up. One sentence, for people; from memory.
   */
  public Optional<String> trouble() {
    return engine.trouble();
  }

  /** Leaves the group in order, within the time configured. */
  @Override
  public void close() {
    engine.close();
  }
}
