package dev.lockstep.combine;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a {@link QueuedCommand}. One that is not final carries no outcome, so no
 * provisional result can reach a caller.
 *
 * @param outcome null for a sweep, and if the command must be decided again
 * @param companionResult what the command's companion returned; null if it has none
 * @param again the command must be decided again: more has expired than the batch could end, or an
 *     earlier command must be decided first, or {@code inNextBatch}
 * @param inNextBatch the command only waits for the next batch, which begins at once
 * @param swept expired items that the batch ended
 */
public record CommandReply<O>(
    @Nullable O outcome,
    @Nullable Object companionResult,
    boolean again,
    boolean inNextBatch,
    int swept) {
  public CommandReply {
    if (again && outcome != null) {
      throw new IllegalArgumentException("A reply that asks again must not carry an outcome");
    }
  }

  /**
   * The replies to a batch.
   *
   * @param nextBatch indexes of commands that were left for the next batch, undecided
   * @param decisions about the other commands, in order; it may end early
   * @param swept expired items that the batch ended
   * @param moreExpired whether a sweep should go on
   */
  static <O> List<CommandReply<O>> all(
      List<? extends QueuedCommand<?, O>> commands,
      BitSet nextBatch,
      List<CommandDecision<O>> decisions,
      int swept,
      boolean moreExpired) {
    // If a batch has several sweeps, only the first counts what the batch ended.
    int unclaimed = swept;
    Iterator<CommandDecision<O>> decided = decisions.iterator();
    List<CommandReply<O>> replies = new ArrayList<>(commands.size());
    for (int i = 0; i < commands.size(); i++) {
      if (nextBatch.get(i)) {
        replies.add(new CommandReply<>(null, null, true, true, swept));
      } else if (commands.get(i).command() == null) {
        replies.add(new CommandReply<>(null, null, moreExpired, false, unclaimed));
        unclaimed = 0;
      } else {
        replies.add(decided.hasNext() ? to(decided.next(), swept) : undecided(swept));
      }
    }
    return replies;
  }

  private static <O> CommandReply<O> to(CommandDecision<O> decision, int swept) {
    return decision.provisional()
        ? undecided(swept)
        : new CommandReply<>(decision.outcome(), null, false, false, swept);
  }

  private static <O> CommandReply<O> undecided(int swept) {
    return new CommandReply<>(null, null, true, false, swept);
  }

  CommandReply<O> with(@Nullable Object result) {
    return new CommandReply<>(outcome, result, again, inNextBatch, swept);
  }
}
