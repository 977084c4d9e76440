package dev.lockstep.server.api;

import dev.lockstep.combine.CommandRefused;
import dev.lockstep.combine.Companion;
import dev.lockstep.once.Once;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.work.OpenTransaction;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Writes the answers of a batch to their idempotency keys, in the transaction that decided them.
 *
 * <p>Twins ask for the same id, which is created at most once. One case remains: the first answer
 * to a key was a refusal, and a repetition would succeed now. It must not take effect, so it is
 * refused here and gets the first answer.
 *
 * @param <T> what the requests are about
 * @param <O> their outcomes
 */
public final class KeyedAnswers<T, O> implements Companion<Ticket<T>, O, Answer> {
  private final Once once;
  private final BiFunction<T, O, KeyedAnswer> decide;

  /**
   * @param decide what an outcome means for the request
   */
  public KeyedAnswers(Once once, BiFunction<T, O, KeyedAnswer> decide) {
    this.once = once;
    this.decide = decide;
  }

  /**
   * The answer to one request.
   *
   * @param effect whether the request changed something
   * @param stored whether repetitions of the key get this answer
   */
  public record KeyedAnswer(Answer answer, boolean effect, boolean stored) {}

  @Override
  public List<Answer> write(OpenTransaction transaction, List<Accompanied<Ticket<T>, O>> commands)
      throws SQLException {
    Exchange exchange = Exchange.of(transaction);
    RoundTrip trip = exchange.trip();
    BatchKeys keys =
        new BatchKeys(once, trip, commands.stream().map(Accompanied::payload).toList());
    trip.send();
    List<Answer> answers = new ArrayList<>(commands.size());
    for (Accompanied<Ticket<T>, O> command : commands) {
      Ticket<T> ticket = command.payload();
      KeyedAnswer decided = decide.apply(ticket.subject(), command.outcome());
      Answer before = keys.earlier(exchange, ticket, StoredAnswer::replayed);
      if (before != null && decided.effect()) {
        throw new CommandRefused(before);
      }
      if (before == null && decided.stored()) {
        keys.answer(ticket, decided.answer());
      }
      answers.add(before == null ? decided.answer() : before);
    }
    RoundTrip last = exchange.trip();
    keys.addRecord(last);
    exchange.defer(last);
    return answers;
  }
}
