package dev.lockstep.testkit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How each caller of a {@link Race} ended, in the order of their numbers. Immutable. */
public final class RaceResult<T extends @Nullable Object> {

  /** The end of one caller. */
  public sealed interface Outcome<T extends @Nullable Object> permits Value, Failure {
    int caller();
  }

  /** The caller returned this. */
  public record Value<T extends @Nullable Object>(int caller, T value) implements Outcome<T> {}

  /** The caller threw this. */
  public record Failure<T extends @Nullable Object>(int caller, Throwable cause)
      implements Outcome<T> {}

  private final List<Outcome<T>> outcomes;

  RaceResult(List<Outcome<T>> outcomes) {
    this.outcomes = List.copyOf(outcomes);
  }

  public List<Outcome<T>> outcomes() {
    return outcomes;
  }

  /** The values of the callers that returned. */
  public List<T> values() {
    List<T> values = new ArrayList<>();
    for (Outcome<T> outcome : outcomes) {
      if (outcome instanceof Value<T> value) {
        values.add(value.value());
      }
    }
    return Collections.unmodifiableList(values);
  }

  /** The exceptions of the callers that threw. */
  public List<Throwable> failures() {
    List<Throwable> failures = new ArrayList<>();
    for (Outcome<T> outcome : outcomes) {
      if (outcome instanceof Failure<T> failure) {
        failures.add(failure.cause());
      }
    }
    return Collections.unmodifiableList(failures);
  }

  /**
   * The values of all callers, in their order.
   *
   * @throws AssertionError if one threw; the first is the cause, the others are suppressed
   */
  public List<T> valuesOrThrow() {
    List<Throwable> failures = failures();
    if (!failures.isEmpty()) {
      AssertionError error =
          new AssertionError(
              failures.size() + " of " + outcomes.size() + " callers failed", failures.get(0));
      failures.stream().skip(1).forEach(error::addSuppressed);
      throw error;
    }
    return values();
  }
}
