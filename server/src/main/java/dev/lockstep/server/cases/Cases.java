package dev.lockstep.server.cases;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Maps each kind of a sealed type to a result. An incomplete table cannot be built, so a new kind
 * cannot be mistaken for an old one.
 *
 * <p>Keep tables in static finals: a test loads every class that has one. If a case needs more than
 * the value, map it to a function of the rest. Immutable.
 *
 * @param <T> the sealed type
 * @param <R> the result
 */
public final class Cases<T, R> {
  private final Map<Class<?>, Function<T, R>> byKind;

  private Cases(Map<Class<?>, Function<T, R>> byKind) {
    this.byKind = Map.copyOf(byKind);
  }

  /** Starts a table over all kinds of a sealed type. */
  public static <T, R> Builder<T, R> over(Class<T> sealed) {
    return new Builder<>(sealed);
  }

  /**
   * The result for this value.
   *
   * @throws IllegalStateException if the table marks its kind as impossible
   */
  public R of(T value) {
    Function<T, R> then = byKind.get(value.getClass());
    if (then == null) {
      throw new IllegalStateException("No case for " + value);
    }
    return then.apply(value);
  }

  /** The kinds of a sealed type: its subclasses that are not sealed themselves. */
  static Set<Class<?>> kinds(Class<?> type) {
    Set<Class<?>> kinds = new LinkedHashSet<>();
    if (type.isSealed()) {
      for (Class<?> permitted : type.getPermittedSubclasses()) {
        kinds.addAll(kinds(permitted));
      }
    } else {
      kinds.add(type);
    }
    return kinds;
  }

  /** A table under construction. Not thread-safe. */
  public static final class Builder<T, R> {
    private final Class<T> sealed;
    private final Set<Class<?>> missing;
    private final Map<Class<?>, Function<T, R>> byKind = new LinkedHashMap<>();

    private Builder(Class<T> sealed) {
      if (!sealed.isSealed()) {
        throw new IllegalStateException(sealed.getName() + " is not sealed");
      }
      this.sealed = sealed;
      this.missing = kinds(sealed);
    }

    /** Sets the result for this kind. */
    public <S extends T> Builder<T, R> when(Class<S> kind, Function<S, R> then) {
      if (!missing.remove(kind)) {
        throw new IllegalStateException(
            kind.getName() + " has its case already, or is no kind of " + sealed.getName());
      }
      byKind.put(kind, value -> then.apply(kind.cast(value)));
      return this;
    }

    /** Marks a kind as impossible. {@link Cases#of} throws if it occurs. */
    public <S extends T> Builder<T, R> never(Class<S> kind) {
      return when(
          kind,
          value -> {
            throw new IllegalStateException(kind.getName() + " cannot come here: " + value);
          });
    }

    /**
     * Builds the table.
     *
     * @throws IllegalStateException if a kind has no case
     */
    public Cases<T, R> complete() {
      if (!missing.isEmpty()) {
        throw new IllegalStateException(
            missing.stream()
                .map(Class::getName)
                .collect(Collectors.joining(", ", "No case for ", "")));
      }
      return new Cases<>(byKind);
    }
  }
}
