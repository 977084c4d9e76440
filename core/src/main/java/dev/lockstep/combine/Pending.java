package dev.lockstep.combine;

import dev.lockstep.sql.CallResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A request and the future of its answer.
 *
 * @param exposed whether the caller holds the future, and may attach to it or cancel it
 */
record Pending<Q, A>(Q request, CompletableFuture<A> answer, boolean exposed) {

  private static final long LAST_ANSWERS_MS = 1_000;

  static <Q, A> Pending<Q, A> of(Q request, boolean exposed) {
    return new Pending<>(request, new CompletableFuture<>(), exposed);
  }

  static <Q, A> List<Q> requests(List<Pending<Q, A>> pending) {
    return pending.size() == 1
        ? List.of(pending.get(0).request())
        : pending.stream().map(Pending::request).toList();
  }

  static <Q, A> List<Delivery.Answer> allWith(
      List<Pending<Q, A>> pending, List<CallResult<A>> told) {
    List<Delivery.Answer> answers = new ArrayList<>(told.size());
    for (int i = 0; i < pending.size(); i++) {
      answers.add(pending.get(i).with(told.get(i)));
    }
    return answers;
  }

  static <Q, A> List<Delivery.Answer> allWith(List<Pending<Q, A>> pending, Throwable fault) {
    return pending.stream().map(one -> one.with(fault)).toList();
  }

  /**
   * Waits until all are answered, but not for their callbacks. Gives up after a second: blocking
   * callbacks may leave no thread for the others.
   */
  static <Q, A> void awaitAnswers(List<Pending<Q, A>> pending) {
    CompletableFuture<?>[] all =
        pending.stream().map(Pending::answer).toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(all).get(LAST_ANSWERS_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Some were answered with an exception, or not in time.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The caller cancelled it while it waited, so it need not run. */
  boolean abandoned() {
    return answer.isDone();
  }

  /** Waits for the answer; throws the failure unwrapped. */
  A await() {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }

  Delivery.Answer with(CallResult<A> told) {
    return told instanceof CallResult.Answer<A> known
        ? new Delivery.Answer(exposed, () -> answer.complete(known.answer()))
        : with(((CallResult.Unknown<A>) told).why());
  }

  Delivery.Answer with(Throwable fault) {
    return new Delivery.Answer(exposed, () -> answer.completeExceptionally(fault));
  }
}
