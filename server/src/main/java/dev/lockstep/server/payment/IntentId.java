package dev.lockstep.server.payment;

/** The provider's id of a payment. */
public record IntentId(String value) {
  public IntentId {
    if (value.isBlank()) {
      throw new IllegalArgumentException("an intent has a name");
    }
  }

  @Override
  public String toString() {
    return value;
  }
}
