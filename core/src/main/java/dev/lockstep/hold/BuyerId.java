package dev.lockstep.hold;

import dev.lockstep.sql.StorableText;

/** A buyer's name, up to {@value #MAX_LENGTH} characters. */
public record BuyerId(String value) {
  public static final int MAX_LENGTH = 200;

  public BuyerId {
    StorableText.require("A buyer", value, MAX_LENGTH);
  }
}
