package dev.lockstep.sql;

import dev.lockstep.fault.OutcomeUnknown;
import java.util.ArrayList;
import java.util.List;

/**
 * One answer of an attempt, and whether it still holds if an earlier, lost attempt of the same call
 * commits later (see {@link Exchange#deferInOnePacket}).
 *
 * <p>Every answer of {@link Transactor#exchange} is one or the other, so no block can forget to
 * decide. After a loss, a {@link Final} answer reaches its caller and a {@link Conditional} one
 * becomes {@link OutcomeUnknown}.
 */
public sealed interface AttemptResult<A> {
  A answer();

  /**
   * Marks every answer as conditional, for work that never goes in one packet: the server can be
   * asked about its lost attempts.
   */
  static <A> List<AttemptResult<A>> conditional(List<A> answers) {
    List<AttemptResult<A>> verdicts = new ArrayList<>(answers.size());
    answers.forEach(answer -> verdicts.add(new Conditional<>(answer)));
    return verdicts;
  }

  /**
   * Holds whatever a lost attempt does: this attempt wrote the effect under guards that make the
   * lost one fail, or found it already written.
   */
  record Final<A>(A answer) implements AttemptResult<A> {}

  /**
   * Holds only if no lost attempt commits later. A refusal is of this kind, unless a written row
   * proves it (an id that is already in use).
   */
  record Conditional<A>(A answer) implements AttemptResult<A> {}
}
