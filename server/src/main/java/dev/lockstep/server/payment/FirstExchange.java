package dev.lockstep.server.payment;

import com.stripe.exception.StripeException;
import com.stripe.net.HttpClient;
import com.stripe.net.StripeRequest;
import com.stripe.net.StripeResponse;
import io.vertx.core.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Splits stripe-java's blocking call in two: one part stops where the request would be sent, the
 * other continues with the answer. No thread waits in between.
 */
final class FirstExchange {
  private FirstExchange() {}

  /** The request that stripe-java would have sent. */
  static final class Encoded extends StripeException {
    private static final long serialVersionUID = 1L;

    private final transient StripeRequest request;

    private Encoded(StripeRequest request) {
      super("not sent yet", null, null, null);
      this.request = request;
    }

    StripeRequest request() {
      return request;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  /** Sends nothing: every call ends with {@link Encoded}. */
  static final class Encoder extends HttpClient {
    @Override
    public StripeResponse request(StripeRequest request) throws StripeException {
      throw new Encoded(request);
    }
  }

  /** Starts with the first exchange's answer; retries are really sent. */
  static final class Resumed extends HttpClient {
    private final Future<StripeResponse> first;
    private final StripeTransport further;
    private final AtomicBoolean told = new AtomicBoolean();

    Resumed(Future<StripeResponse> first, StripeTransport further) {
      this.first = first;
      this.further = further;
    }

    @Override
    public StripeResponse request(StripeRequest request) throws StripeException {
      return told.compareAndSet(false, true)
          ? StripeTransport.outcome(first)
          : further.request(request);
    }
  }
}
