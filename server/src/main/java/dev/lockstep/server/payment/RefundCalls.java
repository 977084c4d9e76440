package dev.lockstep.server.payment;

import com.stripe.StripeClient;
import com.stripe.exception.StripeException;
import com.stripe.model.Refund;
import com.stripe.net.RequestOptions;
import com.stripe.param.RefundCreateParams;
import com.stripe.param.RefundListParams;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.payment.RefundResult.AlreadyRefunded;
import dev.lockstep.server.payment.RefundResult.Differs;
import dev.lockstep.server.payment.RefundResult.Failed;
import dev.lockstep.server.payment.RefundResult.Pending;
import dev.lockstep.server.payment.RefundResult.Refunded;
import dev.lockstep.server.payment.RefundResult.Rejected;
import dev.lockstep.server.payment.RefundResult.Unknown;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Refunds through {@code stripe-java}. Blocks: for payment threads only.
 *
 * <p>A provider may answer before it has refunded, and gives the same answer to repetitions for a
 * day. So unless a refund is plainly done, the provider's current list of the payment's refunds
 * decides. A failed refund left the money with us, and is made again under the next key.
 *
 * <p>All that is left can go back only once. A part could go back twice if it were requested again
 * after the provider has forgotten its key. So the refunds of a part carry that key in their
 * metadata, and are looked for before one is made.
 */
final class RefundCalls {
  /** After that, a person has to find out why. */
  private static final int MAX_ATTEMPTS = 5;

  /** The refund to look at again, if one is not done. */
  private static final Cases<RefundResult, Optional<String>> UNFINISHED =
      Cases.<RefundResult, Optional<String>>over(RefundResult.class)
          .when(Pending.class, pending -> Optional.of(pending.refund()))
          .when(Failed.class, failed -> Optional.of(failed.refund()))
          .when(Refunded.class, refunded -> Optional.empty())
          .when(AlreadyRefunded.class, refunded -> Optional.empty())
          .when(Differs.class, differs -> Optional.empty())
          .when(Rejected.class, rejected -> Optional.empty())
          .when(Unknown.class, unknown -> Optional.empty())
          .complete();

  private static final long MOST_REFUNDS = 100;

  /** The metadata by which the refunds of a part are found. */
  private static final String PART = "refund";

  private final StripeClient client;

  RefundCalls(StripeClient client) {
    this.client = client;
  }

  RefundResult refund(RefundRequest asked) {
    if (!asked.part()) {
      return make(asked);
    }
    List<Refund> own;
    try {
      own = ofPart(asked);
    } catch (StripeException e) {
      return StripeOutcomes.isUnknown(e) ? StripeOutcomes.ofRefund(e) : make(asked);
    }
    if (own.isEmpty()) {
      return make(asked);
    }
    Optional<Refund> known = own.stream().filter(refund -> !isUndone(refund)).findFirst();
    if (known.isEmpty()) {
      return again(asked, own);
    }
    return isDone(known.get(), asked)
        ? new Refunded(known.get().getId(), asked.amount())
        : of(known.get(), own.size());
  }

  /** The refunds made for this part, newest first. */
  private List<Refund> ofPart(RefundRequest asked) throws StripeException {
    return list(asked).stream()
        .filter(refund -> refund.getMetadata() != null)
        .filter(refund -> asked.key().value().equals(refund.getMetadata().get(PART)))
        .toList();
  }

  private List<Refund> list(RefundRequest asked) throws StripeException {
    RefundListParams params =
        RefundListParams.builder()
            .setPaymentIntent(asked.intent().value())
            .setLimit(MOST_REFUNDS)
            .build();
    return client.v1().refunds().list(params).getData();
  }

  private RefundResult make(RefundRequest asked) {
    Refund made;
    try {
      made = create(asked, asked.key());
    } catch (StripeException e) {
      return StripeOutcomes.isRefundElsewhere(e)
          ? standing(asked, StripeOutcomes.ofRefund(e))
          : StripeOutcomes.ofRefund(e);
    }
    return isDone(made, asked)
        ? new Refunded(made.getId(), asked.amount())
        : standing(asked, of(made, 1));
  }

  /**
   * Adds up all refunds of the payment.
   *
   * @param otherwise the result if that is unknown
   */
  private RefundResult standing(RefundRequest asked, RefundResult otherwise) {
    List<Refund> all;
    try {
      all = list(asked);
    } catch (StripeException e) {
      return one(asked, otherwise);
    }
    List<Refund> undone = new ArrayList<>();
    long went = 0;
    long going = 0;
    Refund open = null;
    for (Refund refund : all) {
      if (isUndone(refund)) {
        undone.add(refund);
      } else if (!currency(refund).equals(asked.amount().currency())) {
        return new Differs(money(refund));
      } else if (isDone(refund)) {
        went += refund.getAmount();
      } else {
        going += refund.getAmount();
        open = refund;
      }
    }
    long wanted = asked.before() + asked.amount().amount();
    if (went == wanted) {
      return new AlreadyRefunded(asked.intent());
    }
    if (open != null && went + going >= wanted) {
      return of(open, undone.size() + 1);
    }
    if (open == null && !undone.isEmpty() && went < wanted) {
      return again(asked, undone);
    }
    return went > asked.before() || going > 0
        ? new Differs(new Money(went, asked.amount().currency()))
        : otherwise;
  }

  /** The next key counts the refunds that failed; none is open. */
  private RefundResult again(RefundRequest asked, List<Refund> undone) {
    // Newest first, as the provider lists them.
    Failed failed = new Failed(undone.get(0).getId(), code(undone.get(0)), undone.size());
    if (undone.size() >= MAX_ATTEMPTS) {
      return failed;
    }
    try {
      Refund made = create(asked, new PaymentKey(asked.key().value() + "-" + (undone.size() + 1)));
      return isDone(made, asked)
          ? new Refunded(made.getId(), asked.amount())
          : of(made, undone.size() + 1);
    } catch (StripeException e) {
      return StripeOutcomes.isUnknown(e) ? StripeOutcomes.ofRefund(e) : failed;
    }
  }

  /** For a provider that does not list refunds: the current state of the one in the answer. */
  private RefundResult one(RefundRequest asked, RefundResult otherwise) {
    Optional<String> id = UNFINISHED.of(otherwise);
    if (id.isEmpty()) {
      return otherwise instanceof Differs ? otherwise : new Unknown("the refunds are not listed");
    }
    try {
      Refund now = client.v1().refunds().retrieve(id.get());
      return isDone(now, asked) ? new Refunded(id.get(), asked.amount()) : of(now, 1);
    } catch (StripeException e) {
      return otherwise;
    }
  }

  private Refund create(RefundRequest asked, PaymentKey key) throws StripeException {
    RefundCreateParams.Builder params =
        RefundCreateParams.builder()
            .setPaymentIntent(asked.intent().value())
            .putAllMetadata(asked.metadata());
    if (asked.part()) {
      params.setAmount(asked.amount().amount()).putMetadata(PART, asked.key().value());
    }
    return client
        .v1()
        .refunds()
        .create(params.build(), RequestOptions.builder().setIdempotencyKey(key.value()).build());
  }

  private static RefundResult of(Refund refund, int attempts) {
    if (isDone(refund)) {
      return new Differs(money(refund));
    }
    return isUndone(refund)
        ? new Failed(refund.getId(), code(refund), attempts)
        : new Pending(refund.getId(), "requires_action".equals(refund.getStatus()));
  }

  /** Whether it is all the money asked for, of the right payment. */
  private static boolean isDone(Refund refund, RefundRequest asked) {
    return isDone(refund)
        && money(refund).equals(asked.amount())
        && (refund.getPaymentIntent() == null
            || refund.getPaymentIntent().equals(asked.intent().value()));
  }

  private static boolean isDone(Refund refund) {
    return "succeeded".equals(refund.getStatus());
  }

  private static boolean isUndone(Refund refund) {
    return "failed".equals(refund.getStatus()) || "canceled".equals(refund.getStatus());
  }

  private static String code(Refund refund) {
    return refund.getFailureReason() == null ? refund.getStatus() : refund.getFailureReason();
  }

  private static Money money(Refund refund) {
    return new Money(refund.getAmount(), currency(refund));
  }

  private static String currency(Refund refund) {
    return refund.getCurrency().toUpperCase(Locale.ROOT);
  }
}
