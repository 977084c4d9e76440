package dev.lockstep.tx;

import java.util.ArrayList;
import java.util.List;

/**
 * One answer of an attempt, and how far it can be trusted after an earlier attempt of the same call
 * was lost with its connection and may still commit (see {@link Exchange#only}).
 *
 * <p>Every answer of {@link Transactor#exchange} is one or the other, so that no block can forget
 * the question: a {@link Final} answer reaches its caller, a {@link Conditional} one becomes {@link
 * OutcomeUnknown} once an attempt was lost.
 */
public sealed interface Verdict<A> {
  A answer();

  /** For work that is never sent in one packet: its lost attempts have a name. */
  static <A> List<Verdict<A>> conditional(List<A> answers) {
    List<Verdict<A>> verdicts = new ArrayList<>(answers.size());
    answers.forEach(answer -> verdicts.add(new Conditional<>(answer)));
    return verdicts;
  }

  /**
   * Stands whatever becomes of a lost attempt: this attempt wrote it under guards that the lost one
   * fails, or found it written.
   */
  record Final<A>(A answer) implements Verdict<A> {}

  /** True only if no lost attempt commits later. Every refusal is of this kind. */
  record Conditional<A>(A answer) implements Verdict<A> {}
}
