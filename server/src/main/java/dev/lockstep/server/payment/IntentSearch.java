package dev.lockstep.server.payment;

import com.stripe.StripeClient;
import com.stripe.exception.StripeException;
import com.stripe.model.PaymentIntent;
import com.stripe.param.PaymentIntentListParams;
import com.stripe.param.PaymentIntentSearchParams;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Finds a request's payment by its metadata, when its key does not lead there. Blocks: for payment
 * threads only.
 */
final class IntentSearch {
  private static final long PAGE = 100;

  /** For a provider without a search: only the newest pages. */
  private static final int MAX_PAGES = 5;

  private final StripeClient client;

  IntentSearch(StripeClient client) {
    this.client = client;
  }

  /**
   * A paid payment if there is one, else one that may still be paid, else a canceled one; of
   * several, the oldest. Empty if none is known yet.
   */
  Optional<PaymentIntent> find(Map<String, String> metadata) {
    if (metadata.isEmpty()) {
      return Optional.empty();
    }
    List<PaymentIntent> found = searched(metadata);
    if (found.isEmpty()) {
      found = listed(metadata);
    }
    return found.stream()
        .min(
            Comparator.comparingInt(IntentSearch::rank)
                .thenComparing(intent -> intent.getCreated() == null ? 0 : intent.getCreated()));
  }

  private static int rank(PaymentIntent intent) {
    return switch (intent.getStatus()) {
      case "succeeded" -> 0;
      case "canceled" -> 2;
      default -> 1;
    };
  }

  private List<PaymentIntent> searched(Map<String, String> metadata) {
    String query =
        metadata.entrySet().stream()
            .map(entry -> "metadata['%s']:'%s'".formatted(entry.getKey(), entry.getValue()))
            .sorted()
            .collect(Collectors.joining(" AND "));
    try {
      PaymentIntentSearchParams params =
          PaymentIntentSearchParams.builder().setQuery(query).setLimit(PAGE).build();
      return matching(client.v1().paymentIntents().search(params).getData(), metadata);
    } catch (StripeException e) {
      return List.of();
    }
  }

  private List<PaymentIntent> listed(Map<String, String> metadata) {
    List<PaymentIntent> found = new ArrayList<>();
    try {
      String after = null;
      for (int page = 0; page < MAX_PAGES; page++) {
        PaymentIntentListParams.Builder params = PaymentIntentListParams.builder().setLimit(PAGE);
        if (after != null) {
          params.setStartingAfter(after);
        }
        List<PaymentIntent> some = client.v1().paymentIntents().list(params.build()).getData();
        found.addAll(matching(some, metadata));
        if (some.size() < PAGE) {
          break;
        }
        after = some.get(some.size() - 1).getId();
      }
    } catch (StripeException e) {
      // Keep what was found so far.
    }
    return found;
  }

  private static List<PaymentIntent> matching(
      List<PaymentIntent> some, Map<String, String> metadata) {
    return some.stream()
        .filter(
            intent ->
                intent.getMetadata() != null
                    && intent.getMetadata().entrySet().containsAll(metadata.entrySet()))
        .toList();
  }
}
