package dev.lockstep.combine;

import dev.lockstep.combine.Companion.Accompanied;
import dev.lockstep.combine.QueuedCommand.Attachment;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;

/** The companions of a batch, each with all its payloads, in the order of the commands. */
final class BatchCompanions<O> {
  private final IdentityHashMap<Companion<?, ?, ?>, Call<?, O, ?>> calls = new IdentityHashMap<>();
  private final List<Call<?, O, ?>> inOrder = new ArrayList<>();

  private BatchCompanions() {}

  /** Lets the companions write, and returns the replies with their results. */
  static <O> List<CommandReply<O>> write(
      Exchange exchange,
      List<? extends QueuedCommand<?, O>> commands,
      List<CommandReply<O>> replies)
      throws SQLException {
    if (commands.stream().allMatch(command -> command.attachment() == null)) {
      return replies;
    }
    BatchCompanions<O> companions = new BatchCompanions<>();
    for (int i = 0; i < commands.size(); i++) {
      Attachment<?, O, ?> attachment = commands.get(i).attachment();
      // A command that will be decided again has no outcome to act on yet.
      if (attachment != null && !replies.get(i).again()) {
        companions.add(attachment, i, Objects.requireNonNull(replies.get(i).outcome()));
      }
    }
    List<CommandReply<O>> accompanied = new ArrayList<>(replies);
    for (Call<?, O, ?> call : companions.inOrder) {
      call.write(exchange, accompanied);
    }
    return accompanied;
  }

  @SuppressWarnings("unchecked") // A call is found by its companion, which fixes the other types.
  private <P, R> void add(Attachment<P, O, R> attachment, int index, O outcome) {
    Call<P, O, R> call = (Call<P, O, R>) calls.get(attachment.companion());
    if (call == null) {
      call = new Call<>(attachment.companion(), new ArrayList<>(), new ArrayList<>());
      calls.put(attachment.companion(), call);
      inOrder.add(call);
    }
    call.commands().add(new Accompanied<>(attachment.payload(), outcome));
    call.indexes().add(index);
  }

  private record Call<P, O, R>(
      Companion<P, O, R> companion, List<Accompanied<P, O>> commands, List<Integer> indexes) {
    void write(Exchange exchange, List<CommandReply<O>> replies) throws SQLException {
      List<R> results = companion.write(exchange, List.copyOf(commands));
      if (results.size() != indexes.size()) {
        throw new IllegalStateException(
            "The companion gave %d results to %d commands"
                .formatted(results.size(), indexes.size()));
      }
      for (int i = 0; i < results.size(); i++) {
        int index = indexes.get(i);
        replies.set(index, replies.get(index).with(Objects.requireNonNull(results.get(i))));
      }
    }
  }
}
