package dev.lockstep.hold;

import dev.lockstep.hold.Ask.Attachment;
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
 * What the {@link Veto} companions of a batch decide, by the index of each ask.
 *
 * @param refused asks whose hold stays as it is
 * @param putOff asks for the next batch, because another companion writes about the same hold in
 *     this one
 */
record Vetoes(BitSet refused, BitSet putOff) {
  static final Vetoes NONE = new Vetoes(new BitSet(), new BitSet());

  static Vetoes of(Exchange exchange, ScopeId scope, List<Ask> asks) throws SQLException {
    if (asks.stream().noneMatch(ask -> vetoOf(ask) != null)) {
      return NONE;
    }
    BitSet putOff = putOff(asks);
    IdentityHashMap<Veto<?>, Set<HoldId>> touched = new IdentityHashMap<>();
    for (int i = 0; i < asks.size(); i++) {
      Veto<?> veto = vetoOf(asks.get(i));
      HoldCommand<?> command = asks.get(i).command();
      if (veto != null && command != null && !putOff.get(i)) {
        touched.computeIfAbsent(veto, v -> new HashSet<>()).add(command.hold());
      }
    }
    BitSet refused = new BitSet();
    for (Map.Entry<Veto<?>, Set<HoldId>> asked : touched.entrySet()) {
      Set<HoldId> kept = asked.getKey().keeps(exchange, scope, Set.copyOf(asked.getValue()));
      for (int i = 0; i < asks.size(); i++) {
        HoldCommand<?> command = asks.get(i).command();
        if (vetoOf(asks.get(i)) == asked.getKey()
            && command != null
            && kept.contains(command.hold())) {
          refused.set(i);
        }
      }
    }
    return new Vetoes(refused, putOff);
  }

  private static BitSet putOff(List<Ask> asks) {
    BitSet later = new BitSet();
    Map<HoldId, Companion<?>> first = new HashMap<>();
    for (int i = 0; i < asks.size(); i++) {
      HoldCommand<?> command = asks.get(i).command();
      Attachment<?> attachment = asks.get(i).attachment();
      if (command != null && attachment != null) {
        Companion<?> before = first.putIfAbsent(command.hold(), attachment.companion());
        later.set(
            i,
            attachment.companion() instanceof Veto
                && before != null
                && before != attachment.companion());
      }
    }
    return later;
  }

  private static @Nullable Veto<?> vetoOf(Ask ask) {
    Attachment<?> attachment = ask.attachment();
    return attachment != null && attachment.companion() instanceof Veto<?> veto ? veto : null;
  }
}
