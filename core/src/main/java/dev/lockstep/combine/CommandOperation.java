package dev.lockstep.combine;

import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A block's commands as one combined write. The block locks, decides and writes its own rows; this
 * class has what all blocks share: replies, companions, and which answers are final.
 *
 * @param <K> what contends, in lock order
 * @param <C> a command
 * @param <O> an outcome
 * @param <S> the state that a batch is decided on
 * @param <P> what a batch writes
 */
public abstract class CommandOperation<K extends Comparable<K>, C, O, S, P>
    implements Combined<K, QueuedCommand<C, O>, S, DecidedBatch<C, O, S, P>, CommandReply<O>> {
  private static final BitSet NONE = new BitSet();

  protected abstract K keyOf(C command);

  /**
   * Checks a command before it is queued.
   *
   * @throws IllegalArgumentException if it asks for more than the configuration allows
   */
  protected abstract void requireWithinLimits(C command);

  /** The outcome of a command that the queue has no room for. */
  protected abstract O overloaded(Duration retryAfter);

  /** Names the expiring items of a key, such as "holds of scope 7". */
  protected abstract String expiringOf(K key);

  /** Writes the block's own rows. */
  protected abstract void writePlan(Exchange exchange, K key, DecidedBatch<C, O, S, P> batch)
      throws SQLException;

  /**
   * True if the outcome holds even if a lost attempt commits later: the effect was written here,
   * was found written, or the id belongs to something else. The lost attempt would have to insert
   * the same row, and fails. Every other outcome rests on state that may change before the lost
   * attempt arrives.
   */
  protected abstract boolean stands(O outcome);

  /** As {@link #decided(Object, Object, List, List, BitSet, int, boolean)}, none left out. */
  protected final DecidedBatch<C, O, S, P> decided(
      S input,
      P plan,
      List<QueuedCommand<C, O>> commands,
      List<CommandDecision<O>> decisions,
      int swept,
      boolean moreExpired) {
    return decided(input, plan, commands, decisions, NONE, swept, moreExpired);
  }

  /**
   * Replies to a batch.
   *
   * @param decisions one per command, in order, but none for sweeps and {@code nextBatch}; on the
   *     caller's connection none after the first provisional one
   * @param nextBatch indexes of commands that were left for the next batch
   * @param swept expired items that the batch ended
   * @param moreExpired whether a sweep should go on
   */
  protected final DecidedBatch<C, O, S, P> decided(
      S input,
      P plan,
      List<QueuedCommand<C, O>> commands,
      List<CommandDecision<O>> decisions,
      BitSet nextBatch,
      int swept,
      boolean moreExpired) {
    return new DecidedBatch<>(
        input,
        plan,
        commands,
        CommandReply.all(commands, nextBatch, decisions, swept, moreExpired));
  }

  @Override
  public final DecidedBatch<C, O, S, P> write(
      Exchange exchange, K key, DecidedBatch<C, O, S, P> batch) throws SQLException {
    writePlan(exchange, key, batch);
    return batch.with(BatchCompanions.write(exchange, batch.commands(), batch.replies()));
  }

  @Override
  public final List<AttemptResult<CommandReply<O>>> answers(DecidedBatch<C, O, S, P> batch) {
    List<AttemptResult<CommandReply<O>>> verdicts = new ArrayList<>(batch.replies().size());
    for (CommandReply<O> reply : batch.replies()) {
      O outcome = reply.outcome();
      verdicts.add(
          outcome != null && stands(outcome)
              ? new AttemptResult.Final<>(reply)
              : new AttemptResult.Conditional<>(reply));
    }
    return verdicts;
  }

  /** The commands of a batch, without its sweeps. */
  protected static <C, O> List<C> commandsOf(List<QueuedCommand<C, O>> batch) {
    List<C> commands = new ArrayList<>(batch.size());
    for (QueuedCommand<C, O> one : batch) {
      C command = one.command();
      if (command != null) {
        commands.add(command);
      }
    }
    return commands;
  }

  /** Whether the commands come from one caller, who wants them decided in order. */
  protected static boolean inOrder(List<? extends QueuedCommand<?, ?>> batch) {
    return batch.stream().allMatch(QueuedCommand::joined);
  }
}
