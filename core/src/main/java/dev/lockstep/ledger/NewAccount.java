package dev.lockstep.ledger;

import dev.lockstep.tx.StorableText;
import java.util.OptionalLong;

/**
 * An account to be opened, with nothing in it.
 *
 * @param name for people; need not be unique
 * @param floor what balance less pending may not go below: 0, or a credit line as a negative
 *     number; empty: no floor
 */
public record NewAccount(AccountId id, String name, String currency, OptionalLong floor) {
  public static final int MAX_NAME_LENGTH = 200;

  public NewAccount {
    StorableText.require("An account's name", name, MAX_NAME_LENGTH);
    Money.requireCurrency(currency);
    if (floor.isPresent() && floor.getAsLong() > 0) {
      throw new IllegalArgumentException("A floor is 0 or less; a new account would be below it");
    }
  }

  /** One that can never be overdrawn. */
  public static NewAccount of(AccountId id, String name, String currency) {
    return new NewAccount(id, name, currency, OptionalLong.of(0));
  }

  /** One that can be overdrawn by so much. */
  public static NewAccount withCreditLine(
      AccountId id, String name, String currency, long creditLine) {
    return new NewAccount(id, name, currency, OptionalLong.of(Math.negateExact(creditLine)));
  }

  /** One without a floor, as whoever brings the money into a book needs. */
  public static NewAccount withoutFloor(AccountId id, String name, String currency) {
    return new NewAccount(id, name, currency, OptionalLong.empty());
  }
}
