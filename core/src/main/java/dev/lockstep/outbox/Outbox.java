package dev.lockstep.outbox;

import static java.util.Objects.requireNonNull;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.outbox.OutboxAudit.Action;
import dev.lockstep.outbox.Queries.PartitionedKey;
import dev.lockstep.outbox.Streams.SinkRow;
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
 * The entry type of the outbox: append events in your own transaction, have them delivered per key
 * in commit order.
 *
 * <p>A method that takes a connection works in the caller's transaction and the caller commits, so
 * the event exists if and only if the rest of the transaction does. {@link #appendAtCommit} works
 * in the Transactor's transaction, or in its host's. All other methods run and commit their own, or
 * join the one that the thread is in ({@link Transactor#call}). Thread-safe.
 */
public final class Outbox {
  private static final Logger log = LoggerFactory.getLogger(Outbox.class);

  /** The most events of one {@link #appendAll}. */
  public static final int MAX_BATCH = 10_000;

  /** The most rows of one list. */
  public static final int MAX_PAGE = 1_001;

  /** A sink's lag is counted up to this, per partition. */
  public static final int MAX_LAG = 10_000;

  /** The most sinks of a stream. */
  public static final int MAX_SINKS = 20;

  // Joins any transaction that may write, whatever the Transactor's defaults.
  private static final TxOptions APPEND = TxOptions.DEFAULT.withLabel("append at commit");

  private final Transactor transactor;
  private final Incarnations incarnations;
  private final OutboxConfig config;
  private final Streams streams;
  private final Appender appender;
  private final Segments segments;

  public Outbox(Transactor transactor) {
    this(transactor, OutboxConfig.DEFAULT);
  }

  /**
   * Connects to the database's outbox. The first outbox of a database fixes the number of
   * partitions. The first after a restore from a dump moves the outbox's positions to the new
   * server, which takes longer the more events are kept.
   *
   * @throws IllegalStateException if the database has another number of partitions
   */
  public Outbox(Transactor transactor, OutboxConfig config) {
    this(transactor, config, Segments.FIRST_WIDTH);
  }

  Outbox(Transactor transactor, OutboxConfig config, long segmentWidth) {
    Streams.requirePartitions(
        transactor.call(c -> Streams.install(c, config.partitions())), config.partitions());
    this.incarnations = new Incarnations(transactor);
    incarnations.establish();
    this.transactor = transactor;
    this.config = config;
    this.streams = new Streams(config.partitions());
    this.appender = new Appender(config, streams);
    this.segments = new Segments(transactor, config.retention(), segmentWidth);
  }

  public OutboxConfig config() {
    return config;
  }

  /**
   * Appends an event. Locks its key until the caller's transaction ends. To append to several keys,
   * use {@link #appendAll}, or deadlocks may have to be retried. The caller commits.
   *
   * @throws IllegalArgumentException if the stream is not defined or the content is too large;
   *     nothing is written then
   */
  public AppendedEvent append(Connection connection, NewEvent event) {
    return appendAll(connection, List.of(requireNonNull(event, "event is null"))).get(0);
  }

  /**
   * Appends up to {@link #MAX_BATCH} events to any keys and streams, in two round trips (more if
   * the content exceeds 16 MiB). Events of one key keep their order. Keys are always locked in the
   * same order. The caller commits.
   *
   * @return the sequence of each event, in their order
   */
  public List<AppendedEvent> appendAll(Connection connection, List<NewEvent> events) {
    requireNonNull(connection, "connection is null");
    requireAtMost(MAX_BATCH, requireNonNull(events, "events is null").size());
    return events.isEmpty()
        ? List.of()
        : transactor.join(connection, c -> appender.append(c, events));
  }

  /**
   * Appends an event together with the COMMIT of this thread's current transaction of this outbox's
   * Transactor, after all its other statements. One event takes no extra round trip, and its key is
   * locked for the commit alone. Several events of one transaction are appended together, which
   * takes one extra round trip: events of one key keep their order, and keys are locked in a fixed
   * order. In a caller's transaction ({@code Transactor.join}) and in a host's they are appended
   * when the outermost call returns.
   *
   * <p>The event exists if and only if the transaction commits. A failure at the end, a lock
   * timeout for example, rolls the transaction back and is retried or thrown like that of any
   * statement. If the connection is lost while waiting for the key, it is lost during COMMIT: an
   * {@code OutcomeUnknown} unless the transaction has a lookup.
   *
   * @throws IllegalArgumentException if the stream is not defined or the content is too large; the
   *     transaction does not commit then. Thrown at its end if it has more than {@link #MAX_BATCH}
   *     events
   * @throws IllegalStateException outside a transaction of the Transactor, or in a read-only one
   */
  public void appendAtCommit(NewEvent event) {
    requireNonNull(event, "event is null");
    if (!transactor.inTransaction()) {
      throw new IllegalStateException(
          "appendAtCommit needs a transaction of this outbox's Transactor; call it inside one");
    }
    transactor.run(APPEND, connection -> appender.require(connection, event));
    transactor.beforeCommit(appender, event);
  }

  /** Creates a stream without sinks. An existing stream is left unchanged. */
  public void create(String stream) {
    TextLimits.requireLine("A stream", stream, TextLimits.MAX_NAME_LENGTH);
    transactor.run(c -> Streams.create(c, stream));
  }

  /**
   * Creates a stream if needed, and makes these its only sinks. A sink that stays keeps its
   * progress; a removed sink loses it.
   *
   * @param actor recorded in the audit
   */
  public void define(String stream, List<SinkSpec> sinks, String actor) {
    TextLimits.requireLine("A stream", stream, TextLimits.MAX_NAME_LENGTH);
    TextLimits.requireLine("An actor", actor, TextLimits.MAX_NAME_LENGTH);
    if (sinks.size() > MAX_SINKS
        || sinks.stream().map(SinkSpec::name).distinct().count() != sinks.size()) {
      throw new IllegalArgumentException(
          "A stream has at most %d sinks, with distinct names".formatted(MAX_SINKS));
    }
    transactor.run(c -> streams.define(c, stream, sinks, actor));
  }

  /** Lists all streams, by name. */
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
    requireNonNull(name, "name is null");
    return transactor.call(
        readOnly(),
        c ->
            Streams.find(c, name).isEmpty()
                ? Optional.empty()
                : Optional.of(
                    new StreamView(
                        name, Streams.sinksOf(c, name).stream().map(SinkRow::spec).toList())));
  }

  /** Returns every sink's lag; cheap enough for metrics. */
  public List<SinkLag> lags() {
    return transactor.call(readOnly(), c -> Queries.lags(c, Optional.empty(), MAX_LAG));
  }

  /** Returns the lag of a stream's sinks. */
  public List<SinkLag> lags(String stream) {
    requireNonNull(stream, "stream is null");
    return transactor.call(readOnly(), c -> Queries.lags(c, Optional.of(stream), MAX_LAG));
  }

  /**
   * Lists a key's events that are still kept, in order.
   *
   * @param limit up to {@link #MAX_PAGE}
   */
  public List<Event> events(String stream, String key, long afterSeq, int limit) {
    return events(stream, key, afterSeq, limit, Long.MAX_VALUE);
  }

  /**
   * As {@link #events(String, String, long, int)}, but stops after the event with which the content
   * reaches a size.
   */
  public List<Event> events(String stream, String key, long afterSeq, int limit, long maxBytes) {
    requireNonNull(stream, "stream is null");
    requireNonNull(key, "key is null");
    requireAtMost(MAX_PAGE, limit);
    PartitionedKey where =
        new PartitionedKey(stream, key, Partitioning.partOf(stream, key, config.partitions()));
    return transactor.call(
        readOnly(),
        c -> {
          Optional<Integer> id = Streams.find(c, stream);
          return id.isEmpty()
              ? List.<Event>of()
              : Queries.events(c, id.get(), where, afterSeq, limit, maxBytes);
        });
  }

  /**
   * Lists keys whose delivery to a sink is parked or waits for a retry, by key.
   *
   * @param after the last key of the previous page
   */
  public List<ParkedKey> parked(String stream, String sink, Optional<String> after, int limit) {
    requireSink(stream, sink);
    requireNonNull(after, "after is null; pass Optional.empty() for the first page");
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

  /** Retries a parked or waiting key at once. The caller commits. */
  public SinkActionResult retry(
      Connection connection, String stream, String sink, String key, String actor, String reason) {
    requireKey(stream, sink, key);
    Action action = new Action(actor, "retry", reason);
    return transactor.join(connection, c -> control(c).retry(stream, sink, key, action));
  }

  /**
   * Skips the next event of a parked or waiting key for good. The caller commits.
   *
   * @param seq must be the event to be sent next
   */
  public SinkActionResult skip(
      Connection connection,
      String stream,
      String sink,
      String key,
      long seq,
      String actor,
      String reason) {
    requireKey(stream, sink, key);
    Action action = new Action(actor, "skip", reason);
    return transactor.join(connection, c -> control(c).skip(stream, sink, key, seq, action));
  }

  /** Sends a key's events again, from this sequence on. The caller commits. */
  public SinkActionResult replay(
      Connection connection,
      String stream,
      String sink,
      String key,
      long fromSeq,
      String actor,
      String reason) {
    requireSeq(fromSeq);
    requireKey(stream, sink, key);
    Action action = new Action(actor, "replay", reason);
    return transactor.join(
        connection, c -> control(c).replayKey(stream, sink, key, fromSeq, action));
  }

  /**
   * Sends the kept events of all keys again, each key from this sequence on. The caller commits.
   */
  public SinkActionResult replayAll(
      Connection connection,
      String stream,
      String sink,
      long fromSeq,
      String actor,
      String reason) {
    requireSeq(fromSeq);
    requireSink(stream, sink);
    Action action = new Action(actor, "replay", reason);
    return transactor.join(connection, c -> control(c).replayAll(stream, sink, fromSeq, action));
  }

  /**
   * Lists the audit entries of a stream's sinks, the newest first.
   *
   * @param before the id of the last entry of the previous page
   */
  public List<AuditEntry> audit(String stream, OptionalLong before, int limit) {
    requireNonNull(stream, "stream is null");
    requireAtMost(MAX_PAGE, limit);
    return transactor.call(readOnly(), c -> OutboxAudit.read(c, stream, before, limit));
  }

  /**
   * Starts a relay on this node. The caller closes it.
   *
   * @param types every type of sink in use; the same on all nodes
   */
  public Relay relay(RelayConfig relayConfig, SinkTypes types) {
    return relay(relayConfig, types, new SnapshotSource(transactor));
  }

  Relay relay(RelayConfig relayConfig, SinkTypes types, EventSource source) {
    return relay(relayConfig, types, source, CursorLife.Observer.NONE);
  }

  Relay relay(
      RelayConfig relayConfig, SinkTypes types, EventSource source, CursorLife.Observer observer) {
    maintain();
    Relay relay =
        new Relay(
            transactor,
            incarnations,
            source,
            config.partitions(),
            relayConfig,
            types,
            this::maintainQuietly,
            observer);
    relay.start();
    return relay;
  }

  /**
   * Creates the next segments of the event table and drops those that are no longer needed. Relays
   * call this regularly; several may run at once.
   */
  public void maintain() {
    segments.maintain();
  }

  private void maintainQuietly() {
    try {
      maintain();
    } catch (LockstepException e) {
      log.warn("Outbox segment maintenance failed; it is retried: {}", e.toString());
    } catch (RuntimeException | Error e) {
      log.error("Outbox segment maintenance failed; it is retried", e);
    }
  }

  private OperatorActions control(Connection connection) {
    return new OperatorActions(connection, config.partitions());
  }

  private TxOptions readOnly() {
    return transactor.defaults().asReadOnly();
  }

  private static void requireSink(String stream, String sink) {
    requireNonNull(stream, "stream is null");
    requireNonNull(sink, "sink is null");
  }

  private static void requireKey(String stream, String sink, String key) {
    requireSink(stream, sink);
    requireNonNull(key, "key is null");
  }

  private static void requireSeq(long seq) {
    if (seq < 1) {
      throw new IllegalArgumentException("fromSeq must be at least 1: sequences begin with 1");
    }
  }

  static void requireAtMost(int max, int actual) {
    if (actual > max || actual < 0) {
      throw new IllegalArgumentException("At most %d at a time; split the request".formatted(max));
    }
  }
}
