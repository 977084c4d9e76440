package dev.lockstep.combine;

import java.util.concurrent.CompletableFuture;

/** A request and the promise of its answer. */
record Pending<Q, A>(Q request, CompletableFuture<A> answer) {

  static <Q, A> Pending<Q, A> of(Q request) {
    return new Pending<>(request, new CompletableFuture<>());
  }

  /** Its caller gave up while it was waiting: it need not be run at all. */
  boolean abandoned() {
    return answer.isDone();
  }
}
