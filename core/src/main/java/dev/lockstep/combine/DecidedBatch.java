package dev.lockstep.combine;

import java.util.List;

/**
 * A batch of commands with its decisions.
 *
 * @param input what was decided on
 * @param plan what to write
 * @param replies one per command, in order
 */
public record DecidedBatch<C, O, S, P>(
    S input, P plan, List<QueuedCommand<C, O>> commands, List<CommandReply<O>> replies) {

  /** Whether a companion may write for one of the commands. */
  public boolean accompanied() {
    return commands.stream().anyMatch(command -> command.attachment() != null);
  }

  DecidedBatch<C, O, S, P> with(List<CommandReply<O>> accompanied) {
    return accompanied == replies ? this : new DecidedBatch<>(input, plan, commands, accompanied);
  }
}
