package dev.lockstep.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldId;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.tx.AdvisoryLocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DerivedIdTest {
  private static final BuyerId OWNER = new BuyerId("o");

  @Test
  void theSameKeyIsAnotherIdForEachPurpose() {
    assertThat(HoldId.forPurpose("cart", OWNER, "k"))
        .isEqualTo(HoldId.forPurpose("cart", OWNER, "k"))
        .isNotEqualTo(HoldId.forPurpose("purchase", OWNER, "k"))
        .isNotEqualTo(HoldId.forPurpose("car", new BuyerId("to"), "k"))
        .isNotEqualTo(HoldId.forPurpose("cart", new BuyerId("ok"), "k"))
        .isNotEqualTo(HoldId.forKey(OWNER, "k"))
        .isNotEqualTo(HoldId.forKey(new BuyerId("cart"), "ok"));
    assertThat(TransferId.forPurpose("refund", "p")).isNotEqualTo(TransferId.forKey("refund", "p"));
  }

  /** Encoding would replace it, and two keys would be one. */
  @ParameterizedTest
  @ValueSource(strings = {"k\uD800", "k\uD801", "\uDC00"})
  void noIdIsMadeOfHalfACharacter(String key) {
    assertThatThrownBy(() -> HoldId.forKey(OWNER, key))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> HoldId.forPurpose("cart", OWNER, key))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TransferId.forKey("o", key))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TransferId.forKey(key, "k"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> AdvisoryLocks.keyOf(key)).isInstanceOf(IllegalArgumentException.class);
  }
}
