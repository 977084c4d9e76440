package dev.lockstep.gateway;

import java.util.Optional;

/** Stripe's test payment methods, and what happens to payments with them. */
enum TestCard {
  VISA("pm_card_visa", Behaviour.PAYS, ""),
  VISA_DEBIT("pm_card_visa_debit", Behaviour.PAYS, ""),
  MASTERCARD("pm_card_mastercard", Behaviour.PAYS, ""),
  AMEX("pm_card_amex", Behaviour.PAYS, ""),
  JCB("pm_card_jcb", Behaviour.PAYS, ""),
  DECLINED("pm_card_chargeDeclined", Behaviour.DECLINES, "generic_decline"),
  DECLINED_VISA("pm_card_visa_chargeDeclined", Behaviour.DECLINES, "generic_decline"),
  NO_FUNDS(
      "pm_card_visa_chargeDeclinedInsufficientFunds", Behaviour.DECLINES, "insufficient_funds"),
  LOST("pm_card_visa_chargeDeclinedLostCard", Behaviour.DECLINES, "lost_card"),
  STOLEN("pm_card_visa_chargeDeclinedStolenCard", Behaviour.DECLINES, "stolen_card"),
  AUTHENTICATION("pm_card_authenticationRequired", Behaviour.CHALLENGES, ""),
  THREE_D_SECURE("pm_card_threeDSecure2Required", Behaviour.CHALLENGES, "");

  enum Behaviour {
    PAYS,
    DECLINES,
    CHALLENGES
  }

  private final String id;
  private final Behaviour behaviour;
  private final String declineCode;

  TestCard(String id, Behaviour behaviour, String declineCode) {
    this.id = id;
    this.behaviour = behaviour;
    this.declineCode = declineCode;
  }

  static Optional<TestCard> find(String id) {
    for (TestCard card : values()) {
      if (card.id.equals(id)) {
        return Optional.of(card);
      }
    }
    return Optional.empty();
  }

  String id() {
    return id;
  }

  Behaviour behaviour() {
    return behaviour;
  }

  String declineCode() {
    return declineCode;
  }
}
