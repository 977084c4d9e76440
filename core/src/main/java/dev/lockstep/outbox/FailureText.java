package dev.lockstep.outbox;

import dev.lockstep.sql.StorableText;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Says why a delivery failed, in a form that can be stored. */
final class FailureText {
  static final int MAX_LENGTH = 4_000;

  private FailureText() {}

  /** Replaces what cannot be stored; a default if there is no text. */
  static String of(@Nullable String text) {
    return text == null ? "No reason was given" : StorableText.of(text, MAX_LENGTH);
  }

  /** The same for a throwable, even if its methods throw. */
  static String of(Throwable failure) {
    try {
      Throwable cause = failure.getCause();
      boolean wrapped = failure instanceof CompletionException && cause != null;
      return of(String.valueOf(wrapped ? cause : failure));
    } catch (RuntimeException | Error e) {
      return failure.getClass().getName();
    }
  }
}
