package dev.lockstep.server.cart;

import dev.lockstep.hold.Companion;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.once.Claim;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceEntry;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.RoundTrip;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the answers of a batch to their idempotency keys, in the transaction that decided them,
 * with one read and one write however many there are.
 *
 * <p>Twins have the same hold id, so the decision grants at most one of them. What remains is a key
 * whose first answer was a refusal and whose repetition, decided anew, would be granted now: that
 * must not take effect, so it fails here. The batch is then split, and in the end only it fails,
 * with the first answer in its ticket.
 */
final class OnceCompanion implements Companion<Ticket> {
  private final Once once;

  OnceCompanion(Once once) {
    this.once = once;
  }

  /** The key is answered already, and this command would have had an effect. */
  static final class KeyTaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    KeyTaken() {
      super("The idempotency key has its answer already", null, false, false);
    }
  }

  @Override
  public void write(Exchange exchange, List<Accompanied<Ticket>> outcomes) throws SQLException {
    long scope = outcomes.get(0).payload().key.scope();
    Map<OnceKey, Fingerprint> keys = new HashMap<>();
    outcomes.forEach(asked -> keys.putIfAbsent(asked.payload().key, asked.payload().fingerprint));
    RoundTrip trip = exchange.trip();
    Supplier<Map<OnceKey, Claim>> looked = once.addFind(trip, scope, keys);
    trip.send();
    Map<OnceKey, Claim> stored = looked.get();
    Map<OnceKey, Ticket> first = new LinkedHashMap<>();
    List<OnceEntry> entries = new ArrayList<>();
    for (Accompanied<Ticket> asked : outcomes) {
      Ticket ticket = asked.payload();
      Map<OnceKey, Claim> found =
          keys.entrySet().contains(Map.entry(ticket.key, ticket.fingerprint))
              ? stored
              : once.find(exchange.connection(), scope, Map.of(ticket.key, ticket.fingerprint));
      Answer before = earlier(ticket, found.get(ticket.key), first.get(ticket.key));
      boolean effect = asked.outcome() instanceof Granted granted && !granted.replayed();
      if (before != null) {
        ticket.answer(before);
        if (effect) {
          throw new KeyTaken();
        }
        continue;
      }
      Answer answer = Outcomes.answer(ticket.campaign, asked.outcome(), 201);
      ticket.answer(answer);
      if (!(asked.outcome() instanceof HoldIdReused)) {
        first.put(ticket.key, ticket);
        entries.add(new OnceEntry(ticket.key, ticket.fingerprint, StoredAnswer.text(answer)));
      }
    }
    if (!entries.isEmpty()) {
      RoundTrip last = exchange.trip();
      once.addRecord(last, scope, entries);
      exchange.putOff(last);
    }
  }

  /** What the key was answered with before this ticket came, in the table or in this batch. */
  private static @Nullable Answer earlier(
      Ticket ticket, @Nullable Claim stored, @Nullable Ticket first) {
    if (stored instanceof Claim.Answered answered) {
      return StoredAnswer.replayed(answered.answer());
    }
    if (stored instanceof Claim.Reused) {
      return Problem.keyReused().toAnswer();
    }
    if (stored instanceof Claim.InUse) {
      return Problem.keyInUse().toAnswer();
    }
    if (first == null) {
      return null;
    }
    return first.fingerprint.equals(ticket.fingerprint)
        ? StoredAnswer.replayed(Objects.requireNonNull(first.answer()))
        : Problem.keyReused().toAnswer();
  }
}
