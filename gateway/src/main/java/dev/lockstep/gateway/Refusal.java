package dev.lockstep.gateway;

/** A request with invalid parameters. It has no effect. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient StripeError error;

  Refusal(StripeError error) {
    // No stack trace: it is an answer, and refusing must stay cheap.
    super(error.message(), null, false, false);
    this.error = error;
  }

  StripeError error() {
    return error;
  }
}
