package dev.lockstep.hold;

import dev.lockstep.combine.Companion;
import dev.lockstep.combine.QueuedCommand;
import dev.lockstep.combine.QueuedCommand.Attachment;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the {@link Veto} companions of a batch decide, by the index of each command.
 *
 * @param refused commands whose hold stays as it is
 * @param nextBatch commands left for the next batch, because another companion writes about the
 *     same hold in this one
 */
record Vetoes(BitSet refused, BitSet nextBatch) {
  static final Vetoes NONE = new Vetoes(new BitSet(), new BitSet());

  static Vetoes of(
      Exchange exchange, ScopeId scope, List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch)
      throws SQLException {
    if (batch.stream().noneMatch(one -> vetoOf(one) != null)) {
      return NONE;
    }
    BitSet nextBatch = leftOver(batch);
    IdentityHashMap<Veto<?, ?>, Set<HoldId>> touched = new IdentityHashMap<>();
    for (int i = 0; i < batch.size(); i++) {
      Veto<?, ?> veto = vetoOf(batch.get(i));
      HoldCommand<?> command = batch.get(i).command();
      if (veto != null && command != null && !nextBatch.get(i)) {
        touched.computeIfAbsent(veto, v -> new HashSet<>()).add(command.hold());
      }
    }
    BitSet refused = new BitSet();
    for (Map.Entry<Veto<?, ?>, Set<HoldId>> asked : touched.entrySet()) {
      Set<HoldId> kept = asked.getKey().keeps(exchange, scope, Set.copyOf(asked.getValue()));
      for (int i = 0; i < batch.size(); i++) {
        HoldCommand<?> command = batch.get(i).command();
        if (vetoOf(batch.get(i)) == asked.getKey()
            && command != null
            && kept.contains(command.hold())) {
          refused.set(i);
        }
      }
    }
    return new Vetoes(refused, nextBatch);
  }

  private static BitSet leftOver(List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch) {
    BitSet later = new BitSet();
    Map<HoldId, Companion<?, ?, ?>> first = new HashMap<>();
    for (int i = 0; i < batch.size(); i++) {
      HoldCommand<?> command = batch.get(i).command();
      Attachment<?, HoldOutcome, ?> attachment = batch.get(i).attachment();
      if (command != null && attachment != null) {
        Companion<?, ?, ?> before = first.putIfAbsent(command.hold(), attachment.companion());
        later.set(
            i,
            attachment.companion() instanceof Veto
                && before != null
                && before != attachment.companion());
      }
    }
    return later;
  }

  private static @Nullable Veto<?, ?> vetoOf(QueuedCommand<HoldCommand<?>, HoldOutcome> queued) {
    Attachment<?, HoldOutcome, ?> attachment = queued.attachment();
    return attachment != null && attachment.companion() instanceof Veto<?, ?> veto ? veto : null;
  }
}
