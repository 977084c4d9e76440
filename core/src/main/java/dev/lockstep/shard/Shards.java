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
 * A node's membership in a group: owns a share of the shards, kept by heartbeats and balanced with
 * the other nodes.
 *
 * <p>Does nothing until {@link #start}. {@link #close} hands all shards over; if that takes too
 * long, other nodes take them over. Thread-safe.
 */
public final class Shards implements AutoCloseable {
  private final ShardsConfig config;
  private final ShardTable table;
  private final ShareBalancer balancer;

  /**
   * Creates the group's rows if needed, in its own transaction.
   *
   * @param transactor runs its own transactions, never the caller's
   * @param listener is told of shards that come and go
   * @throws IllegalStateException if the group exists with another number of shards
   */
  public Shards(Transactor transactor, ShardsConfig config, ShardListener listener) {
    this.config = config;
    this.table = new ShardTable(transactor, config);
    int actual = table.create(config.shards());
    if (actual != config.shards()) {
      throw new IllegalStateException(ShardCount.mismatch(config.group(), actual, config.shards()));
    }
    this.balancer = new ShareBalancer(table, config, listener);
  }

  /** The shard count for code that writes for a group, whether or not it owns shards. */
  public static ShardCount count(String group, int shards) {
    return new ShardCount(group, shards);
  }

  /**
   * Joins the group and begins to take shards.
   *
   * @throws IllegalStateException if called twice, or after {@link #close}
   */
  public void start() {
    balancer.start();
  }

  public ShardsConfig config() {
    return config;
  }

  /** Returns this node's leases, as far as it knows, by shard. */
  public List<Lease> owned() {
    return balancer.owned();
  }

  /** Returns the owner of each shard of the group, according to the database. */
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

  /** Returns all members, of all nodes, that were not declared dead. */
  public Set<UUID> members() {
    return table.look().members().stream()
        .map(GroupView.MemberRow::member)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Returns which of these members are dead, in the caller's transaction, for callers that act in
   * their place without taking their shards. Declares dead the members whose lease has passed. A
   * member that is alive after all notices at its next heartbeat and joins again under a new id.
   *
   * @return from the COMMIT on, no write under a lease of these is accepted. A member in the middle
   *     of a fenced write is left out; this call does not wait for it
   */
  public static Set<UUID> gone(Connection connection, String group, Collection<UUID> members)
      throws SQLException {
    return ShardTable.gone(connection, group, members);
  }

  /**
   * Returns what keeps this node from its share, if anything: failing heartbeats, or a shard that
   * the listener could not take. One sentence, for people. Reads memory only.
   */
  public Optional<String> trouble() {
    return balancer.trouble();
  }

  /** Hands all shards over and leaves the group, within the close timeout. */
  @Override
  public void close() {
    balancer.close();
  }
}
