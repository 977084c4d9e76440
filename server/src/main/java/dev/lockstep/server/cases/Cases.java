package dev.lockstep.server.cases;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What follows from each kind of a sealed type. A table that lacks a kind cannot be made, so a kind
 * that is added later cannot be taken for another one.
 *
 * <p>Keep tables in static finals: a test loads every class that has one. A case that needs more
 * than the value answers with a function of the rest. Immutable.
 *
 * @param <T> the sealed type
 * @param <R> what follows
 */
public final class Cases<T, R> {
  private final Map<Class<?>, Function<T, R>> byKind;

  private Cases(Map<Class<?>, Function<T, R>> byKind) {
    this.byKind = Map.copyOf(byKind);
  }

  /** Begins a table of all kinds of this sealed type. */
  public static <T, R> Builder<T, R> over(Class<T> sealed) {
    return new Builder<>(sealed);
  }

  /**
   * What follows from this value.
   *
   * @throws IllegalStateException if the table says that its kind never comes here
   */
  public R of(T value) {
    Function<T, R> then = byKind.get(value.getClass());
    if (then == null) {
      throw new IllegalStateException("No case for " + value);
    }
    return then.apply(value);
  }

  /** The kinds of a sealed type: the classes below it that have no kinds themselves. */
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

  /** A table in the making. One thread uses it. */
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

    /** What follows from this kind. */
    public <S extends T> Builder<T, R> when(Class<S> kind, Function<S, R> then) {
      if (!missing.remove(kind)) {
        throw new IllegalStateException(
            kind.getName() + " has its case already, or is no kind of " + sealed.getName());
      }
      byKind.put(kind, value -> then.apply(kind.cast(value)));
      return this;
    }

    /** A kind that cannot come here. If it does, {@link Cases#of} throws and names it. */
    public <S extends T> Builder<T, R> never(Class<S> kind) {
      return when(
          kind,
          value -> {
            throw new IllegalStateException(kind.getName() + " cannot come here: " + value);
          });
    }

    /**
     * The table.
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
