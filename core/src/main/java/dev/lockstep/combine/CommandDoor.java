package dev.lockstep.combine;

import static java.util.Objects.requireNonNull;

import dev.lockstep.combine.QueuedCommand.Attachment;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Accepts a block's commands. {@link #submit} and {@link #call} queue a command and combine it with
 * those of other callers; Lockstep commits. {@link #join} and {@link #joinAll} decide commands in
 * the caller's transaction; the caller commits.
 *
 * <p>Each command gets a final outcome. If its queue is full, it gets the operation's {@code
 * overloaded} outcome; faults are exceptions.
 *
 * <p>Thread-safe. {@link #close} lets queued commands finish, in bounded time.
 *
 * @param <K> what contends; keys are locked in ascending order
 * @param <C> a command
 * @param <O> an outcome
 */
public final class CommandDoor<K extends Comparable<K>, C, O> implements AutoCloseable {
  /** Limits the batches per key and sweep, so that other keys get their turn. */
  private static final int MAX_SWEEPS = 1_000;

  private final Transactor transactor;
  private final CommandOperation<K, C, O, ?, ?> operation;
  private final Combiner<K, QueuedCommand<C, O>, CommandReply<O>> combiner;
  private final ProvisionalRetry<K, C, O> retry;
  private final Rounds<K> sweeps = new Rounds<>();

  public CommandDoor(
      Transactor transactor, CommandOperation<K, C, O, ?, ?> operation, CombinerConfig config) {
    this.transactor = transactor;
    this.operation = operation;
    this.combiner = Combiner.on(transactor, operation, config);
    this.retry = new ProvisionalRetry<>(combiner, operation, config.transaction());
  }

  /**
   * Queues a command. The stage completes after the transaction committed, with the outcome, or
   * exceptionally with a {@link dev.lockstep.fault.LockstepException}.
   */
  public CompletionStage<O> submit(C command) {
    return submit(command, null, CommandDoor::outcomeOf, this::notQueued);
  }

  /** As {@link #submit(Object)}, with a companion that writes in the same transaction. */
  public <P, R> CompletionStage<CompanionResult<O, R>> submit(
      C command, Companion<P, O, R> companion, P payload) {
    return submit(
        command, new Attachment<>(companion, payload), CommandDoor::written, this::notWritten);
  }

  /** As {@link #submit(Object)}, and waits for the outcome, on this thread if nothing is ahead. */
  public O call(C command) {
    return call(command, null, CommandDoor::outcomeOf, this::notQueued);
  }

  /** As {@link #call(Object)}, with a companion that writes in the same transaction. */
  public <P, R> CompanionResult<O, R> call(C command, Companion<P, O, R> companion, P payload) {
    return call(
        command, new Attachment<>(companion, payload), CommandDoor::written, this::notWritten);
  }

  private <T> CompletionStage<T> submit(
      C command,
      @Nullable Attachment<?, O, ?> attachment,
      Function<CommandReply<O>, T> decided,
      Function<Throwable, @Nullable T> undecided) {
    operation.requireWithinLimits(requireNonNull(command, "command is null"));
    CompletableFuture<T> answer = new CompletableFuture<>();
    retry.submit(
        operation.keyOf(command),
        QueuedCommand.toSubmit(command, attachment),
        (reply, thrown) -> {
          if (thrown == null) {
            answer.complete(decided.apply(Objects.requireNonNull(reply)));
            return;
          }
          T instead = undecided.apply(thrown);
          if (instead == null) {
            answer.completeExceptionally(thrown);
          } else {
            answer.complete(instead);
          }
        });
    return answer;
  }

  private <T> T call(
      C command,
      @Nullable Attachment<?, O, ?> attachment,
      Function<CommandReply<O>, T> decided,
      Function<Throwable, @Nullable T> undecided) {
    operation.requireWithinLimits(requireNonNull(command, "command is null"));
    try {
      return decided.apply(
          retry.call(operation.keyOf(command), QueuedCommand.toSubmit(command, attachment)));
    } catch (CombinerOverloaded | CommandRefused thrown) {
      T instead = undecided.apply(thrown);
      if (instead == null) {
        throw thrown;
      }
      return instead;
    }
  }

  /**
   * Decides a command in the caller's transaction, with a companion.
   *
   * @throws CommandRefused if the companion refuses the command; roll back
   */
  public <P, R> CompanionResult<O, R> join(
      Connection connection, C command, Companion<P, O, R> companion, P payload) {
    Attachment<P, O, R> attachment = new Attachment<>(companion, payload);
    return written(join(connection, List.of(QueuedCommand.toJoin(command, attachment))).get(0));
  }

  /**
   * Decides commands in the caller's transaction. Keys go in ascending order; within a key,
   * commands go in the given order. Returns one outcome per command, in the given order.
   */
  public List<O> joinAll(Connection connection, List<? extends C> commands) {
    return outcomesOf(join(connection, toJoin(commands)));
  }

  /**
   * As {@link #joinAll(Connection, List)}, in a companion of another block's batch: the writes
   * travel with that batch's COMMIT.
   */
  public List<O> joinAll(Exchange exchange, List<? extends C> commands) throws SQLException {
    // Lockstep's own batches already plan index lookups; elsewhere, switching takes round trips.
    return transactor.plansIndexLookups()
        ? outcomesOf(joinByKey(exchange, toJoin(commands)))
        : joinAll(exchange.connection(), commands);
  }

  private static <C, O> List<QueuedCommand<C, O>> toJoin(List<? extends C> commands) {
    List<QueuedCommand<C, O>> joining =
        new ArrayList<>(requireNonNull(commands, "commands is null").size());
    commands.forEach(
        command ->
            joining.add(
                QueuedCommand.toJoin(
                    requireNonNull(command, "one of the commands is null"), null)));
    return joining;
  }

  private List<CommandReply<O>> join(Connection connection, List<QueuedCommand<C, O>> commands) {
    TxWork<List<CommandReply<O>>> work = c -> joinByKey(Exchange.within(c), commands);
    return transactor.plansIndexLookups()
        ? transactor.join(connection, work)
        : transactor.join(connection, own -> IndexLookups.during(own, work::run));
  }

  private List<CommandReply<O>> joinByKey(Exchange exchange, List<QueuedCommand<C, O>> commands)
      throws SQLException {
    Map<K, List<Integer>> byKey = new TreeMap<>();
    for (int i = 0; i < commands.size(); i++) {
      C command = Objects.requireNonNull(commands.get(i).command());
      operation.requireWithinLimits(command);
      byKey.computeIfAbsent(operation.keyOf(command), key -> new ArrayList<>()).add(i);
    }
    List<@Nullable CommandReply<O>> replies =
        new ArrayList<>(Collections.nCopies(commands.size(), (CommandReply<O>) null));
    for (Map.Entry<K, List<Integer>> one : byKey.entrySet()) {
      List<Integer> indexes = one.getValue();
      List<QueuedCommand<C, O>> own = indexes.stream().map(commands::get).toList();
      List<CommandReply<O>> round = retry.join(exchange, one.getKey(), own);
      for (int i = 0; i < round.size(); i++) {
        replies.set(indexes.get(i), round.get(i));
      }
    }
    return replies.stream().map(Objects::requireNonNull).toList();
  }

  /**
   * Ends expired items of these keys in batches. A key that cannot be swept (because of a lock, for
   * example) does not stop the others: see {@link Rounds}.
   *
   * @return how many items this call ended
   * @throws dev.lockstep.fault.LockstepException if a key could not be swept; thrown at the end
   */
  public int sweep(Collection<K> keys) {
    return sweeps.each(keys, this::sweepKey);
  }

  private int sweepKey(K key) {
    int swept = 0;
    CommandReply<O> reply;
    int round = 0;
    do {
      reply = combiner.call(key, QueuedCommand.toSweep());
      swept += reply.swept();
    } while (reply.again() && reply.swept() > 0 && ++round < MAX_SWEEPS);
    return swept;
  }

  /** The number of commands that wait for a decision, over all keys. */
  public int waiting() {
    return combiner.waiting();
  }

  @Override
  public void close() {
    combiner.close();
  }

  private static <O> O outcomeOf(CommandReply<O> reply) {
    return Objects.requireNonNull(reply.outcome());
  }

  private static <O> List<O> outcomesOf(List<CommandReply<O>> replies) {
    return replies.stream().map(CommandDoor::outcomeOf).toList();
  }

  private @Nullable O notQueued(Throwable thrown) {
    return thrown instanceof CombinerOverloaded overloaded && overloaded.isOf(combiner)
        ? operation.overloaded(overloaded.retryAfter())
        : null;
  }

  @SuppressWarnings("unchecked") // The command's own companion returned the result.
  private static <O, R> CompanionResult<O, R> written(CommandReply<O> reply) {
    return new CompanionResult.Written<>(
        outcomeOf(reply), (R) Objects.requireNonNull(reply.companionResult()));
  }

  @SuppressWarnings("unchecked") // The command's own companion refused it.
  private <R> @Nullable CompanionResult<O, R> notWritten(Throwable thrown) {
    if (thrown instanceof CommandRefused refused) {
      return new CompanionResult.RolledBack<>((R) refused.result());
    }
    O outcome = notQueued(thrown);
    return outcome == null ? null : new CompanionResult.NotQueued<>(outcome);
  }
}
