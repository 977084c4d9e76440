package dev.lockstep.server.api;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;

/**
 * The body of one request. It stays unread until {@link #read}, so the head decides whether the
 * request is served. {@link #release} discards an unread body as it arrives. Used on the request's
 * event loop.
 */
final class IncomingBody {
  private final HttpServerRequest request;
  private final BodyBudget budget;
  private final String network;
  private final int most;
  private final Buffer content = Buffer.buffer();
  private final Promise<Buffer> complete = Promise.promise();
  private boolean released;
  private boolean endsConnection;

  /**
   * Pauses the request; call it before anything asynchronous.
   *
   * @param most the longest body accepted
   */
  IncomingBody(HttpServerRequest request, BodyBudget budget, String network, int most) {
    this.request = request.pause();
    this.budget = budget;
    this.network = network;
    this.most = most;
  }

  /**
   * Reads the whole body. Fails with a problem if it is too long, there is no room, or the client
   * is gone.
   */
  Future<Buffer> read() {
    if (declaredLength() > most) {
      throw tooLarge();
    }
    boolean chunked = request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
    if (request.isEnded() || (declaredLength() == 0 && !chunked)) {
      return Future.succeededFuture(content);
    }
    // An HTTP/1.0 client does not know 100 Continue.
    if (request.version() == HttpVersion.HTTP_1_1
        && request.headers().contains(HttpHeaders.EXPECT)) {
      var unused = request.response().writeContinue();
    }
    request
        .handler(this::arrived)
        .exceptionHandler(
            thrown -> {
              endsConnection = true;
              complete.tryFail(incomplete());
            })
        .endHandler(end -> complete.tryComplete(content))
        .resume();
    return complete.future();
  }

  /** Frees the room once the answer is known; what still arrives is discarded. */
  void release() {
    if (released) {
      return;
    }
    released = true;
    budget.giveBack(network, content.length());
    if (!request.isEnded()) {
      request.handler(null).resume();
    }
  }

  /** Whether no further request can follow: there was no room for the body, or it is malformed. */
  boolean endsConnection() {
    return endsConnection;
  }

  private void arrived(Buffer chunk) {
    if (released || complete.future().isComplete()) {
      return;
    }
    if (content.length() + (long) chunk.length() > most) {
      complete.tryFail(tooLarge());
      return;
    }
    try {
      budget.take(network, chunk.length());
    } catch (ProblemException e) {
      endsConnection = true;
      complete.tryFail(e);
      return;
    }
    content.appendBuffer(chunk);
  }

  /** 0 without a declared length; a malformed length was refused before. */
  private long declaredLength() {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    return length == null ? 0 : Long.parseLong(length.strip());
  }

  private ProblemException tooLarge() {
    return Problem.of(
            "body-too-large", 413, "Body too large", "A body may have at most " + most + " bytes.")
        .asException();
  }

  private static ProblemException incomplete() {
    return Problem.badRequest("The body is incomplete or malformed.").asException();
  }
}
