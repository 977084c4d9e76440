package dev.lockstep.combine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One place in a batch: a command, perhaps with a companion's payload; or a sweep, which has no
 * command and only ends what has expired.
 *
 * @param sweepsFirst the batch must look for expired items first, because ending them may change
 *     the answer
 * @param joined true if it runs on the caller's connection, whose commit we cannot observe, and
 *     where commands take effect in the order given; false if it waited in the queue
 * @param <C> a command
 * @param <O> an outcome
 */
public record QueuedCommand<C, O>(
    @Nullable C command,
    @Nullable Attachment<?, O, ?> attachment,
    boolean sweepsFirst,
    boolean joined) {

  public static <C, O> QueuedCommand<C, O> toSubmit(
      C command, @Nullable Attachment<?, O, ?> attachment) {
    return new QueuedCommand<>(command, attachment, false, false);
  }

  public static <C, O> QueuedCommand<C, O> toJoin(
      C command, @Nullable Attachment<?, O, ?> attachment) {
    return new QueuedCommand<>(command, attachment, true, true);
  }

  static <C, O> QueuedCommand<C, O> toSweep() {
    return new QueuedCommand<>(null, null, true, false);
  }

  QueuedCommand<C, O> sweepingFirst() {
    return new QueuedCommand<>(command, attachment, true, joined);
  }

  /** A companion and the payload for it. */
  public record Attachment<P, O, R>(Companion<P, O, R> companion, P payload) {
    public Attachment {
      Objects.requireNonNull(companion, "companion is null");
      Objects.requireNonNull(payload, "payload is null");
    }
  }
}
