package dev.lockstep.server.reconciliation;

import java.util.Arrays;
import java.util.Optional;

/** What can be wrong between money, goods, books and the provider. */
enum Kind {
  /** Completed, and its hold is not sold. */
  PAID_NOT_SOLD("paidNotSold", Group.MONEY_WITHOUT_GOODS, false),
  /** Paid too late, and neither sold nor given back for too long. */
  PAID_LATE("paidLate", Group.MONEY_WITHOUT_GOODS, false),
  /** Failed or expired although it was paid. */
  PAID_AND_ENDED("paidAndEnded", Group.MONEY_WITHOUT_GOODS, false),
  /** What was sold is worth less than what was paid. */
  LESS_THAN_PAID("lessThanPaid", Group.MONEY_WITHOUT_GOODS, false),
  /** Completed on the same hold as another purchase: one of them has no goods of its own. */
  SHARED_HOLD("sharedHold", Group.MONEY_WITHOUT_GOODS, false),
  /** To be refunded, and not done for too long. */
  REFUND_NOT_DONE("refundNotDone", Group.MONEY_WITHOUT_GOODS, false),

  /** Sold, and no paid purchase says so. */
  SOLD_UNPAID("soldUnpaid", Group.GOODS_WITHOUT_MONEY, true),
  /** What was sold is worth more than what was paid. */
  MORE_THAN_PAID("moreThanPaid", Group.GOODS_WITHOUT_MONEY, true),
  /** Worth the same, but not what was paid for. */
  OTHER_THAN_PAID("otherThanPaid", Group.GOODS_WITHOUT_MONEY, true),
  /** Refunded, and still sold, though no draw rests on it. */
  REFUNDED_NOT_RETURNED("refundedNotReturned", Group.GOODS_WITHOUT_MONEY, true),
  /** Completed here; at the provider the payment did not succeed. */
  NOT_CHARGED("notCharged", Group.GOODS_WITHOUT_MONEY, true),

  /** Past its time, and the provider has not said how it ended. */
  UNSETTLED("unsettled", Group.UNSETTLED, false),
  /** The timer or this comparison cannot go on with it: its row, or its step, is broken. */
  SET_ASIDE("setAside", Group.UNSETTLED, false),

  /** The campaign's book says something else than the purchase. */
  BOOKS_DIFFER("booksDiffer", Group.BOOKS, false),

  /** Charged at the provider in our name, and no purchase here was paid by it. */
  CHARGED_UNKNOWN("chargedUnknown", Group.PROVIDER, false),
  /**
   * Refunded at the provider, and not here. It does not pause: a person did it on purpose and
   * nothing more leaves by it; to stop a sale is not for whoever may refund one purchase.
   */
  REFUNDED_THERE("refundedThere", Group.PROVIDER, false),
  /** A part was refunded at the provider, and not here. */
  PARTLY_REFUNDED_THERE("partlyRefundedThere", Group.PROVIDER, false),
  /** Refunded here; the provider has given nothing back, or not all: the refund failed there. */
  REFUND_UNKNOWN("refundUnknown", Group.PROVIDER, false),
  /** The provider received, or gave back, another amount or currency. */
  AMOUNT_DIFFERS("amountDiffers", Group.PROVIDER, false),
  /** Completed here by a payment that the provider does not know: of another account, perhaps. */
  PAYMENT_UNKNOWN("paymentUnknown", Group.PROVIDER, false);

  /** The list of the report that a kind is shown in. */
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

  Kind(String label, Group group, boolean pauses) {
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

  /** Whether the campaign stops selling for it. */
  boolean pauses() {
    return pauses;
  }

  /** Whether the provider has to be asked to see it again. */
  boolean ofProvider() {
    return group == Group.PROVIDER || this == NOT_CHARGED;
  }

  static Optional<Kind> find(String label) {
    return Arrays.stream(values()).filter(kind -> kind.label.equals(label)).findFirst();
  }
}
