package dev.lockstep.server.reconciliation;

import java.util.Arrays;
import java.util.Optional;

/** Ways in which money, goods, books and the provider can disagree. */
enum FindingKind {
  /** Completed, but its hold is not sold. */
  PAID_NOT_SOLD("paidNotSold", Group.MONEY_WITHOUT_GOODS, false),
  /** Paid too late, and for too long neither sold nor refunded. */
  PAID_LATE("paidLate", Group.MONEY_WITHOUT_GOODS, false),
  /** Failed or expired although it was paid. */
  PAID_AND_ENDED("paidAndEnded", Group.MONEY_WITHOUT_GOODS, false),
  /** The goods sold are worth less than what was paid. */
  LESS_THAN_PAID("lessThanPaid", Group.MONEY_WITHOUT_GOODS, false),
  /** Completed on the same hold as another purchase: one of them has no goods. */
  SHARED_HOLD("sharedHold", Group.MONEY_WITHOUT_GOODS, false),
  /** A refund that has been due for too long. */
  REFUND_NOT_DONE("refundNotDone", Group.MONEY_WITHOUT_GOODS, false),

  /** Sold without a paid purchase. */
  SOLD_UNPAID("soldUnpaid", Group.GOODS_WITHOUT_MONEY, true),
  /** The goods sold are worth more than what was paid. */
  MORE_THAN_PAID("moreThanPaid", Group.GOODS_WITHOUT_MONEY, true),
  /** The goods have the right value, but are not those that were paid for. */
  OTHER_THAN_PAID("otherThanPaid", Group.GOODS_WITHOUT_MONEY, true),
  /** Refunded, but still sold, though no draw depends on it. */
  REFUNDED_NOT_RETURNED("refundedNotReturned", Group.GOODS_WITHOUT_MONEY, true),
  /** Completed here, but the payment did not succeed at the provider. */
  NOT_CHARGED("notCharged", Group.GOODS_WITHOUT_MONEY, true),

  /** Past its deadline, and the provider has not reported the outcome. */
  UNSETTLED("unsettled", Group.UNSETTLED, false),
  /** The timer or this comparison cannot process it: its row, or its step, is broken. */
  SET_ASIDE("setAside", Group.UNSETTLED, false),

  /** The campaign's book disagrees with the purchase. */
  BOOKS_DIFFER("booksDiffer", Group.BOOKS, false),

  /** Charged at the provider in our name, but it paid for no purchase here. */
  CHARGED_UNKNOWN("chargedUnknown", Group.PROVIDER, false),
  /**
   * Refunded at the provider, but not here. It does not pause the campaign: a person did it on
   * purpose, no more goods leave because of it, and permission to refund one purchase must not
   * suffice to stop a sale.
   */
  REFUNDED_THERE("refundedThere", Group.PROVIDER, false),
  /** Partly refunded at the provider, but not here. */
  PARTLY_REFUNDED_THERE("partlyRefundedThere", Group.PROVIDER, false),
  /** Refunded here, but not or not fully at the provider: the refund failed there. */
  REFUND_UNKNOWN("refundUnknown", Group.PROVIDER, false),
  /** The provider received, or gave back, another amount or currency. */
  AMOUNT_DIFFERS("amountDiffers", Group.PROVIDER, false),
  /** Completed here by a payment that the provider does not know, perhaps of another account. */
  PAYMENT_UNKNOWN("paymentUnknown", Group.PROVIDER, false);

  /** The list of the report that shows a kind. */
  enum Group {
    MONEY_WITHOUT_GOODS("moneyWithoutGoods"),
    GOODS_WITHOUT_MONEY("goodsWithoutMoney"),
    UNSETTLED("unsettled"),
    BOOKS("books"),
    PROVIDER("provider");

    private final String label;

    Group(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  private final String label;
  private final Group group;
  private final boolean pauses;

  FindingKind(String label, Group group, boolean pauses) {
    this.label = label;
    this.group = group;
    this.pauses = pauses;
  }

  String label() {
    return label;
  }

  Group group() {
    return group;
  }

  /** Whether it pauses the campaign. */
  boolean pauses() {
    return pauses;
  }

  /** Whether only the provider can confirm it. */
  boolean ofProvider() {
    return group == Group.PROVIDER || this == NOT_CHARGED;
  }

  static Optional<FindingKind> find(String label) {
    return Arrays.stream(values()).filter(kind -> kind.label.equals(label)).findFirst();
  }
}
