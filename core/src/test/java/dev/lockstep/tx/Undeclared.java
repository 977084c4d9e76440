package dev.lockstep.tx;

/** Throws a checked exception as code does whose compiler knows of none. */
public final class Undeclared {
  private Undeclared() {}

  @SuppressWarnings({"unchecked", "DoNotCallSuggester"})
  public static <E extends Throwable> void raise(Throwable thrown) throws E {
    throw (E) thrown;
  }
}
