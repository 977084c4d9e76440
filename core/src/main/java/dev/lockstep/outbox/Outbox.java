package dev.lockstep.outbox;

import dev.lockstep.outbox.Audit.Action;
import dev.lockstep.outbox.Queries.KeyPlace;
import dev.lockstep.outbox.Streams.SinkRow;
import dev.lockstep.tx.LockstepException;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events: append them in your own transaction, and have them delivered in commit order, key by key.
 *
 * <p>A method that takes a connection works in the caller's transaction, and the caller commits:
 * the event is there if and only if the rest is. {@link #appendAtCommit} works in the Transactor's.
 * The others commit themselves. Thread-safe.
 */
public final class Outbox {
  private static final Logger log = LoggerFactory.getLogger(Outbox.class);

  /** Events in one {@link #appendAll}. */
  public static final int MAX_BATCH = 10_000;

  /** Rows of one list. */
  public static final int MAX_PAGE = 1_001;

  /** Up to which a sink's lag is counted, in each partition. */
  public static final int MAX_LAG = 10_000;

  /** Sinks of a stream. */
  public static final int MAX_SINKS = 20;

  // Joins any transaction that may write, whatever the Transactor's defaults.
  private static final TxOptions APPEND = TxOptions.DEFAULT.withLabel("append at commit");

  private final Transactor transactor;
  private final Home home;
  private final OutboxConfig config;
  private final Streams streams;
  private final Appender appender;
  private final Segments segments;

  public Outbox(Transactor transactor) {
    this(transactor, OutboxConfig.DEFAULT);
  }

  /**
   * The first on a database decides the number of partitions. The first on a database that was
   * restored from a dump moves the outbox's positions to the new server, which takes the longer the
   * more events are kept.
   *
   * @throws IllegalStateException if the database has another number of partitions
   */
  public Outbox(Transactor transactor, OutboxConfig config) {
    this(transactor, config, Segments.FIRST_WIDTH);
  }

  Outbox(Transactor transactor, OutboxConfig config, long segmentWidth) {
    Streams.requirePartitions(
        transactor.call(c -> Streams.install(c, config.partitions())), config.partitions());
    this.home = new Home(transactor);
    home.settle();
    this.transactor = transactor;
    this.config = config;
    this.streams = new Streams(config.partitions());
    this.appender = new Appender(config, streams);
    this.segments = new Segments(transactor, config.keep(), segmentWidth);
  }

  public OutboxConfig config() {
    return config;
  }

  /**
   * Appends an event. Locks its key until the caller's transaction ends: who appends to several
   * keys should do so at once, with {@link #appendAll}, or deadlocks may have to be retried. The
   * caller commits.
   *
   * @throws IllegalArgumentException if the stream is not defined, or the content too large;
   *     nothing has happened then
   */
  public Appended append(Connection connection, NewEvent event) {
    return appendAll(connection, List.of(event)).get(0);
  }

  /**
   * Appends up to {@link #MAX_BATCH} events over any keys and streams with two statements; those of
   * one key in their order. Locks keys in one order, whatever order they come in. The caller
   * commits.
   *
   * @return the place of each, in their order
   */
  public List<Appended> appendAll(Connection connection, List<NewEvent> events) {
    requireAtMost(MAX_BATCH, events.size());
    return events.isEmpty()
        ? List.of()
        : transactor.on(connection, c -> appender.append(c, events));
  }

  /**
   * Appends an event together with the COMMIT of the transaction of this outbox's Transactor that
   * this thread is in: after all its other statements, whatever order they come in. That takes no
   * crossing of the network, and the event's key is locked for the commit alone. Several in one
   * transaction are appended at once, those of one key in their order, their keys locked in one
   * order; that takes one crossing. In a transaction of the caller's ({@code Transactor.on}) they
   * are appended when {@code on} returns.
   *
   * <p>The event is there if and only if the transaction commits. What fails at the end, a lock
   * timeout for example, rolls it back, and is retried or thrown as by any statement of it. A
   * connection that is lost while the key is waited for is lost during COMMIT, which is an {@code
   * OutcomeUnknown} unless the transaction has a lookup.
   *
   * @throws IllegalArgumentException if the stream is not defined, or the content too large; the
   *     transaction will not commit then. At its end, if there are more than {@link #MAX_BATCH}
   * @throws IllegalStateException outside a transaction of the Transactor, or in one that only
   *     reads
   */
  public void appendAtCommit(NewEvent event) {
    if (!transactor.inTransaction()) {
      throw new IllegalStateException("No transaction of this outbox's Transactor to append in");
    }
    transactor.run(APPEND, connection -> appender.require(connection, event));
    transactor.leave(appender, event);
  }

  /** Makes a stream without sinks, if it is not there. One that is there stays as it is. */
  public void create(String stream) {
    Texts.requireLine("A stream", stream, Texts.MAX_NAME_LENGTH);
    transactor.run(c -> Streams.create(c, stream));
  }

  /**
   * Makes a stream, if it is not there, and its sinks these and no others. A sink that stays keeps
   * its progress; one that is removed loses it.
   *
   * @param actor for the audit
   */
  public void define(String stream, List<SinkSpec> sinks, String actor) {
    Texts.requireLine("A stream", stream, Texts.MAX_NAME_LENGTH);
    Texts.requireLine("An actor", actor, Texts.MAX_NAME_LENGTH);
    if (sinks.size() > MAX_SINKS
        || sinks.stream().map(SinkSpec::name).distinct().count() != sinks.size()) {
      throw new IllegalArgumentException("Up to %d sinks, each of them once".formatted(MAX_SINKS));
    }
    transactor.run(c -> streams.define(c, stream, sinks, actor));
  }

  /** All streams, by name. */
  public List<StreamView> streams() {
    return transactor.call(
        readOnly(),
        c -> {
          Map<String, List<SinkSpec>> sinks = new LinkedHashMap<>();
          Streams.names(c).forEach(name -> sinks.put(name, new ArrayList<>()));
          for (SinkRow row : Streams.read(c).sinks()) {
            sinks.computeIfAbsent(row.stream(), name -> new ArrayList<>()).add(row.spec());
          }
          List<StreamView> all = new ArrayList<>();
          sinks.forEach((name, specs) -> all.add(new StreamView(name, specs)));
          return all;
        });
  }

  public Optional<StreamView> stream(String name) {
    return transactor.call(
        readOnly(),
        c ->
            Streams.find(c, name).isEmpty()
                ? Optional.empty()
                : Optional.of(
                    new StreamView(
                        name, Streams.sinksOf(c, name).stream().map(SinkRow::spec).toList())));
  }

  /** How far every sink is behind; cheap enough for metrics. */
  public List<SinkLag> lags() {
    return transactor.call(readOnly(), c -> Queries.lags(c, Optional.empty(), MAX_LAG));
  }

  /** How far the sinks of a stream are behind. */
  public List<SinkLag> lags(String stream) {
    return transactor.call(readOnly(), c -> Queries.lags(c, Optional.of(stream), MAX_LAG));
  }

  /**
   * Events of a key that are still kept, in their order.
   *
   * @param limit up to {@link #MAX_PAGE}
   */
  public List<Event> events(String stream, String key, long afterSeq, int limit) {
    requireAtMost(MAX_PAGE, limit);
    KeyPlace place =
        new KeyPlace(stream, key, Partitioning.partOf(stream, key, config.partitions()));
    return transactor.call(
        readOnly(),
        c -> {
          Optional<Integer> id = Streams.find(c, stream);
          return id.isEmpty()
              ? List.<Event>of()
              : Queries.events(c, id.get(), place, afterSeq, limit);
        });
  }

  /**
   * Keys that do not flow to a sink, by key.
   *
   * @param after the last of the page before
   */
  public List<ParkedKey> parked(String stream, String sink, Optional<String> after, int limit) {
    requireAtMost(MAX_PAGE, limit);
    return transactor.call(
        readOnly(),
        c -> {
          Optional<SinkRow> row = Streams.sinkOf(c, stream, sink);
          return row.isEmpty()
              ? List.<ParkedKey>of()
              : Queries.parked(c, row.get().id(), after, limit);
        });
  }

  /** Tries a parked key again, at once. The caller commits. */
  public ChangeResult retry(
      Connection connection, String stream, String sink, String key, String actor, String reason) {
    Action action = new Action(actor, "retry", reason);
    return transactor.on(connection, c -> control(c).retry(stream, sink, key, action));
  }

  /**
   * Leaves an event out for good and goes on with the next of its key. The caller commits.
   *
   * @param seq must be the one that is to be sent next
   */
  public ChangeResult skip(
      Connection connection,
      String stream,
      String sink,
      String key,
      long seq,
      String actor,
      String reason) {
    Action action = new Action(actor, "skip", reason);
    return transactor.on(connection, c -> control(c).skip(stream, sink, key, seq, action));
  }

  /** Sends a key's events again, from a sequence on. The caller commits. */
  public ChangeResult replay(
      Connection connection,
      String stream,
      String sink,
      String key,
      long fromSeq,
      String actor,
      String reason) {
    requireSeq(fromSeq);
    Action action = new Action(actor, "replay", reason);
    return transactor.on(connection, c -> control(c).replayKey(stream, sink, key, fromSeq, action));
  }

  /**
   * Sends the events of all keys again that are kept, each from a sequence on. The caller commits.
   */
  public ChangeResult replayAll(
      Connection connection,
      String stream,
      String sink,
      long fromSeq,
      String actor,
      String reason) {
    requireSeq(fromSeq);
    Action action = new Action(actor, "replay", reason);
    return transactor.on(connection, c -> control(c).replayAll(stream, sink, fromSeq, action));
  }

  /**
   * What was done to a stream's sinks, the newest first.
   *
   * @param before the id of the last of the page before
   */
  public List<AuditEntry> audit(String stream, OptionalLong before, int limit) {
    requireAtMost(MAX_PAGE, limit);
    return transactor.call(readOnly(), c -> Audit.read(c, stream, before, limit));
  }

  /**
   * Starts a node that relays. Close it.
   *
   * @param types every kind of sink there is; the same on all nodes
   */
  public Relay relay(RelayConfig relayConfig, SinkTypes types) {
    return relay(relayConfig, types, new SnapshotSource(transactor));
  }

  Relay relay(RelayConfig relayConfig, SinkTypes types, EventSource source) {
    maintain();
    Relay relay =
        new Relay(
            transactor,
            home,
            source,
            config.partitions(),
            relayConfig,
            types,
            this::maintainQuietly);
    relay.start();
    return relay;
  }

  /**
   * Makes segments of the events' table ahead and drops those that every sink is past. Relays do so
   * by themselves; several may at once.
   */
  public void maintain() {
    segments.maintain();
  }

  private void maintainQuietly() {
    try {
      maintain();
    } catch (LockstepException e) {
      log.warn("Segments are looked after later: {}", e.toString());
    } catch (RuntimeException | Error e) {
      log.error("Segments are looked after later", e);
    }
  }

  private Control control(Connection connection) {
    return new Control(connection, config.partitions());
  }

  private TxOptions readOnly() {
    return transactor.defaults().asReadOnly();
  }

  private static void requireSeq(long seq) {
    if (seq < 1) {
      throw new IllegalArgumentException("A sequence begins with 1");
    }
  }

  static void requireAtMost(int max, int actual) {
    if (actual > max || actual < 0) {
      throw new IllegalArgumentException("At most %d at a time".formatted(max));
    }
  }
}
