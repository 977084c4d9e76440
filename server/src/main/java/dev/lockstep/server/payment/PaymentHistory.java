package dev.lockstep.server.payment;

import com.stripe.StripeClient;
import com.stripe.exception.InvalidRequestException;
import com.stripe.exception.StripeException;
import com.stripe.model.HasId;
import com.stripe.model.PaymentIntent;
import com.stripe.model.Refund;
import com.stripe.model.StripeCollection;
import com.stripe.param.PaymentIntentListParams;
import com.stripe.param.RefundListParams;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The provider's own lists, whatever created the entries: this server, another system, or a person
 * in the provider's console. Newest first, a page at a time; read-only.
 *
 * <p>Blocks for as long as the provider takes: for background threads only. Thread-safe.
 */
public final class PaymentHistory {
  /** The provider's largest page. */
  private static final long PAGE = 100;

  private static final String INTENT = "payment_intent";

  private final StripeClient client;

  PaymentHistory(StripeClient client) {
    this.client = client;
  }

  /** The state of an object at the provider. */
  public enum Standing {
    /** Not finished. */
    OPEN,
    /** The money has moved. */
    DONE,
    /** The money has not moved, and will not. */
    ENDED
  }

  /**
   * A payment.
   *
   * @param received in the currency's minor unit
   * @param currency in capitals
   */
  public record Charge(
      String id,
      Map<String, String> metadata,
      Standing standing,
      long received,
      String currency,
      Instant createdAt) {}

  /**
   * A refund.
   *
   * @param payment the payment it refunds; empty if the provider names none
   * @param metadata of the payment
   */
  public record ProviderRefund(
      String id,
      Optional<String> payment,
      Map<String, String> metadata,
      Standing standing,
      long amount,
      String currency,
      Instant createdAt) {}

  /** A page of a list, and whether there are older entries. */
  public record Listed<T>(List<T> items, boolean more) {}

  /** The provider did not answer, or not with a list. */
  public static final class ProviderSilent extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ProviderSilent(StripeException cause) {
      super(cause.getMessage(), cause);
    }
  }

  /**
   * Payments begun in this period.
   *
   * @param after the last one of the previous page; null for the newest page
   */
  public Listed<Charge> charges(Instant from, Instant before, @Nullable String after) {
    PaymentIntentListParams params =
        PaymentIntentListParams.builder()
            .setLimit(PAGE)
            .setStartingAfter(after)
            .setCreated(
                PaymentIntentListParams.Created.builder()
                    .setGte(from.getEpochSecond())
                    .setLt(before.getEpochSecond())
                    .build())
            .build();
    return asked(() -> listed(client.v1().paymentIntents().list(params), PaymentHistory::charge));
  }

  /** Refunds made in this period. */
  public Listed<ProviderRefund> refunds(Instant from, Instant before, @Nullable String after) {
    RefundListParams params =
        RefundListParams.builder()
            .setLimit(PAGE)
            .setStartingAfter(after)
            .addExpand("data." + INTENT)
            .setCreated(
                RefundListParams.Created.builder()
                    .setGte(from.getEpochSecond())
                    .setLt(before.getEpochSecond())
                    .build())
            .build();
    return asked(() -> listed(client.v1().refunds().list(params), PaymentHistory::providerRefund));
  }

  /** Empty if the provider does not know this id. */
  public Optional<Charge> charge(String id) {
    return found(() -> charge(client.v1().paymentIntents().retrieve(id)));
  }

  /** How much of a payment is refunded or on its way. */
  public long givenBackOf(String payment) {
    RefundListParams params =
        RefundListParams.builder().setLimit(PAGE).setPaymentIntent(payment).build();
    return asked(() -> listed(client.v1().refunds().list(params), PaymentHistory::providerRefund))
        .items()
        .stream()
        .filter(one -> one.standing() != Standing.ENDED)
        .mapToLong(ProviderRefund::amount)
        .sum();
  }

  @FunctionalInterface
  private interface Call<T> {
    T run() throws StripeException;
  }

  private static <T> T asked(Call<T> call) {
    try {
      return call.run();
    } catch (StripeException e) {
      throw new ProviderSilent(e);
    }
  }

  private static <T> Optional<T> found(Call<T> call) {
    try {
      return Optional.of(call.run());
    } catch (InvalidRequestException e) {
      if ("resource_missing".equals(e.getCode())) {
        return Optional.empty();
      }
      throw new ProviderSilent(e);
    } catch (StripeException e) {
      throw new ProviderSilent(e);
    }
  }

  private static <S extends HasId, T> Listed<T> listed(
      StripeCollection<S> page, Function<S, T> reader) {
    return new Listed<>(
        page.getData().stream().map(reader).toList(), Boolean.TRUE.equals(page.getHasMore()));
  }

  private static Charge charge(PaymentIntent intent) {
    Standing standing =
        switch (intent.getStatus()) {
          case "succeeded" -> Standing.DONE;
          case "canceled" -> Standing.ENDED;
          default -> Standing.OPEN;
        };
    return new Charge(
        intent.getId(),
        orEmpty(intent.getMetadata()),
        standing,
        orZero(intent.getAmountReceived()),
        intent.getCurrency().toUpperCase(Locale.ROOT),
        Instant.ofEpochSecond(intent.getCreated()));
  }

  private static ProviderRefund providerRefund(Refund refund) {
    Standing standing =
        switch (String.valueOf(refund.getStatus())) {
          case "succeeded" -> Standing.DONE;
          case "failed", "canceled" -> Standing.ENDED;
          default -> Standing.OPEN;
        };
    PaymentIntent intent = refund.getPaymentIntentObject();
    return new ProviderRefund(
        refund.getId(),
        Optional.ofNullable(refund.getPaymentIntent()),
        intent == null ? Map.of() : orEmpty(intent.getMetadata()),
        standing,
        refund.getAmount(),
        refund.getCurrency().toUpperCase(Locale.ROOT),
        Instant.ofEpochSecond(refund.getCreated()));
  }

  private static Map<String, String> orEmpty(@Nullable Map<String, String> metadata) {
    return metadata == null ? Map.of() : metadata;
  }

  private static long orZero(@Nullable Long amount) {
    return amount == null ? 0 : amount;
  }
}
