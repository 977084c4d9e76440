package dev.lockstep.gateway;

import java.time.Duration;

/**
 * The faults to inject. Rates are probabilities from 0 to 1, drawn for each request or event; 1
 * makes a fault certain. Start from {@link #NONE} and add.
 *
 * <p>Faults affect the requests about intents and refunds; the gateway's own test routes stay
 * reliable.
 *
 * @param latency added before the work of every request
 * @param declineRate how many cards that would pay are declined instead
 * @param answers how answers get lost
 * @param webhooks how webhooks misbehave
 * @param delays what ends only after its request was answered
 */
public record GatewayFaults(
    Duration latency, double declineRate, Answers answers, Webhooks webhooks, Delays delays) {

  public static final GatewayFaults NONE =
      new GatewayFaults(Duration.ZERO, 0, Answers.NONE, Webhooks.NONE);

  /** Without delays. */
  public GatewayFaults(Duration latency, double declineRate, Answers answers, Webhooks webhooks) {
    this(latency, declineRate, answers, webhooks, Delays.NONE);
  }

  /**
   * Reads one JSON object with the fields of the gateway's own {@code /v1/test/faults}.
   *
   * @throws IllegalArgumentException with what is wrong
   */
  public static GatewayFaults parse(String json) {
    return FaultsJson.read(json);
  }

  /** The inverse of {@link #parse}. */
  public String json() {
    return FaultsJson.write(this);
  }

  public GatewayFaults {
    FaultLimits.requireWait("latency", latency);
    FaultLimits.requireRate("declineRate", declineRate);
  }

  /**
   * How answers get lost. At most one of the four is drawn for a request, in this order.
   *
   * @param errorBeforeRate 500, with no effect
   * @param errorAfterRate 500, although the effect happened; a retry with the same key gets the
   *     true answer
   * @param timeoutRate the effect happens, and the answer comes late or never
   * @param lateBy how late; zero: never
   * @param idempotencyErrorRate the effect happens, and the answer says that the key belongs to
   *     another request
   */
  public record Answers(
      double errorBeforeRate,
      double errorAfterRate,
      double timeoutRate,
      Duration lateBy,
      double idempotencyErrorRate) {
    public static final Answers NONE = new Answers(0, 0, 0, Duration.ZERO);

    /** Without errors about keys. */
    public Answers(
        double errorBeforeRate, double errorAfterRate, double timeoutRate, Duration lateBy) {
      this(errorBeforeRate, errorAfterRate, timeoutRate, lateBy, 0);
    }

    public Answers {
      FaultLimits.requireRate("errorBeforeRate", errorBeforeRate);
      FaultLimits.requireRate("errorAfterRate", errorAfterRate);
      FaultLimits.requireRate("timeoutRate", timeoutRate);
      FaultLimits.requireWait("lateBy", lateBy);
      FaultLimits.requireRate("idempotencyErrorRate", idempotencyErrorRate);
    }

    public static Answers errorsBefore(double rate) {
      return new Answers(rate, 0, 0, Duration.ZERO);
    }

    public static Answers errorsAfter(double rate) {
      return new Answers(0, rate, 0, Duration.ZERO);
    }

    public static Answers late(double rate, Duration lateBy) {
      return new Answers(0, 0, rate, lateBy);
    }

    public static Answers never(double rate) {
      return new Answers(0, 0, rate, Duration.ZERO);
    }

    public static Answers idempotencyErrors(double rate) {
      return new Answers(0, 0, 0, Duration.ZERO, rate);
    }
  }

  /**
   * How webhooks misbehave.
   *
   * @param duplicateRate sent twice
   * @param delay how much later every one is sent
   * @param reorderRate held back until the next one was delivered, for 5 s at most
   */
  public record Webhooks(double duplicateRate, Duration delay, double reorderRate) {
    public static final Webhooks NONE = new Webhooks(0, Duration.ZERO, 0);

    public Webhooks {
      FaultLimits.requireRate("duplicateRate", duplicateRate);
      FaultLimits.requireWait("delay", delay);
      FaultLimits.requireRate("reorderRate", reorderRate);
    }

    public static Webhooks duplicated(double rate) {
      return new Webhooks(rate, Duration.ZERO, 0);
    }

    public static Webhooks delayed(Duration delay) {
      return new Webhooks(0, delay, 0);
    }

    public static Webhooks reordered(double rate) {
      return new Webhooks(0, Duration.ZERO, rate);
    }
  }

  /**
   * Payments and refunds that are answered before they end. {@link Gateway#settle} and {@link
   * Gateway#settleRefund}, or the test routes of the same names, end them.
   *
   * @param processingRate a card that would pay leaves its intent processing, which cannot be
   *     canceled
   * @param pendingRefundRate a refund is pending
   */
  public record Delays(double processingRate, double pendingRefundRate) {
    public static final Delays NONE = new Delays(0, 0);

    public Delays {
      FaultLimits.requireRate("processingRate", processingRate);
      FaultLimits.requireRate("pendingRefundRate", pendingRefundRate);
    }

    public static Delays processing(double rate) {
      return new Delays(rate, 0);
    }

    public static Delays pendingRefunds(double rate) {
      return new Delays(0, rate);
    }
  }

  public GatewayFaults withLatency(Duration latency) {
    return new GatewayFaults(latency, declineRate, answers, webhooks, delays);
  }

  public GatewayFaults withDeclineRate(double declineRate) {
    return new GatewayFaults(latency, declineRate, answers, webhooks, delays);
  }

  public GatewayFaults withAnswers(Answers answers) {
    return new GatewayFaults(latency, declineRate, answers, webhooks, delays);
  }

  public GatewayFaults withWebhooks(Webhooks webhooks) {
    return new GatewayFaults(latency, declineRate, answers, webhooks, delays);
  }

  public GatewayFaults withDelays(Delays delays) {
    return new GatewayFaults(latency, declineRate, answers, webhooks, delays);
  }
}
