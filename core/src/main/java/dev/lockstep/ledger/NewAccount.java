package dev.lockstep.ledger;

import dev.lockstep.sql.StorableText;
import java.util.OptionalLong;

/**
 * An account to open, with a balance of 0.
 *
 * @param name for people; need not be unique
 * @param floor the lower bound of balance less pending: 0, or a credit line as a negative number;
 *     if empty, there is none
 */
public record NewAccount(AccountId id, String name, String currency, OptionalLong floor) {
  public static final int MAX_NAME_LENGTH = 200;

  public NewAccount {
    StorableText.require("An account's name", name, MAX_NAME_LENGTH);
    Money.requireCurrency(currency);
    if (floor.isPresent() && floor.getAsLong() > 0) {
      throw new IllegalArgumentException("A floor must be 0 or less; a new account starts at 0");
    }
  }

  /** An account that can never be overdrawn. */
  public static NewAccount of(AccountId id, String name, String currency) {
    return new NewAccount(id, name, currency, OptionalLong.of(0));
  }

  /** An account that can be overdrawn by {@code creditLine}. */
  public static NewAccount withCreditLine(
      AccountId id, String name, String currency, long creditLine) {
    return new NewAccount(id, name, currency, OptionalLong.of(Math.negateExact(creditLine)));
  }

  /** An account without a floor; a book needs one to bring money in. */
  public static NewAccount withoutFloor(AccountId id, String name, String currency) {
    return new NewAccount(id, name, currency, OptionalLong.empty());
  }
}
