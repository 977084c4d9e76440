package dev.lockstep.ledger;

import dev.lockstep.ledger.Ask.Attachment;
import dev.lockstep.ledger.LedgerOperation.Decided;
import dev.lockstep.ledger.TransferCompanion.Accompanied;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;

/** The companions of a batch, each with all its payloads, in the order of the asks. */
final class Companions {
  private final IdentityHashMap<TransferCompanion<?>, Call<?>> calls = new IdentityHashMap<>();
  private final List<Call<?>> inOrder = new ArrayList<>();

  Companions(Decided decided) {
    for (int i = 0; i < decided.asks().size(); i++) {
      Attachment<?> attachment = decided.asks().get(i).attachment();
      Reply reply = decided.replies().get(i);
      // A command that will be decided again has no outcome to act on yet.
      if (attachment != null && !reply.again()) {
        add(attachment, Objects.requireNonNull(reply.outcome()));
      }
    }
  }

  void write(Exchange exchange) throws SQLException {
    for (Call<?> call : inOrder) {
      call.write(exchange);
    }
  }

  @SuppressWarnings(
      "unchecked") // A call is found by its companion, which fixes the payload's type.
  private <P> void add(Attachment<P> attachment, LedgerOutcome outcome) {
    Call<P> call = (Call<P>) calls.get(attachment.companion());
    if (call == null) {
      call = new Call<>(attachment.companion(), new ArrayList<>());
      calls.put(attachment.companion(), call);
      inOrder.add(call);
    }
    call.outcomes().add(new Accompanied<>(attachment.payload(), outcome));
  }

  private record Call<P>(TransferCompanion<P> companion, List<Accompanied<P>> outcomes) {
    void write(Exchange exchange) throws SQLException {
      companion.write(exchange, List.copyOf(outcomes));
    }
  }
}
