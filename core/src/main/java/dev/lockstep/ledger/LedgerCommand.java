package dev.lockstep.ledger;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/**
 * A command on a book. Each command names its result type, so {@link Ledger#submit(LedgerCommand)}
 * answers with exactly the outcomes that the command can have.
 */
public sealed interface LedgerCommand<R extends LedgerOutcome> {
  /** The most steps that can be linked. */
  int MAX_LINKED = 100;

  BookId book();

  /** Moves money at once. */
  record Move(BookId book, TransferId id, AccountId from, AccountId to, Money money)
      implements LedgerCommand<TransferResult> {
    public Move {
      requireTwo(from, to);
    }
  }

  /**
   * Reserves money for a transfer that is posted or voided later, or expires. Reserved money stays
   * in the account and cannot leave it in any other way.
   *
   * @param holdFor time until it expires, from 1 s to {@link LedgerConfig#maxPendingFor()}
   */
  record Reserve(
      BookId book, TransferId id, AccountId from, AccountId to, Money money, Duration holdFor)
      implements LedgerCommand<TransferResult> {
    public Reserve {
      requireTwo(from, to);
      if (holdFor.compareTo(Duration.ofSeconds(1)) < 0) {
        throw new IllegalArgumentException("A reservation must last at least 1 s, not " + holdFor);
      }
    }
  }

  /**
   * Moves reserved money.
   *
   * @param amount how much of it, at least 1; the rest is given back. If empty, all of it
   */
  record Post(BookId book, TransferId id, OptionalLong amount)
      implements LedgerCommand<TransferEndResult> {
    public Post {
      if (amount.isPresent() && amount.getAsLong() < 1) {
        throw new IllegalArgumentException("Post at least 1, or cancel the transfer");
      }
    }

    public static Post all(BookId book, TransferId id) {
      return new Post(book, id, OptionalLong.empty());
    }
  }

  /** Gives reserved money back: the transfer is voided. */
  record VoidPending(BookId book, TransferId id) implements LedgerCommand<TransferEndResult> {}

  /**
   * Commands of one book that happen all or none, in this order, each on what the previous ones
   * left.
   *
   * @param steps 1 to {@value #MAX_LINKED} commands, none of them Linked, each for a different
   *     transfer
   */
  record Linked(BookId book, List<LedgerCommand<?>> steps) implements LedgerCommand<LinkedResult> {
    public Linked {
      steps = List.copyOf(steps);
      if (steps.isEmpty() || steps.size() > MAX_LINKED) {
        throw new IllegalArgumentException("Link 1 to %d steps".formatted(MAX_LINKED));
      }
      for (LedgerCommand<?> step : steps) {
        if (step instanceof Linked || !step.book().equals(book)) {
          throw new IllegalArgumentException(
              "Linked steps must be moves, reserves, posts and cancels of one book");
        }
      }
      if (steps.stream().map(LedgerCommand::transfer).distinct().count() < steps.size()) {
        throw new IllegalArgumentException("Each linked step must be for a different transfer");
      }
    }
  }

  /** The transfer that a step is about. */
  private static TransferId transfer(LedgerCommand<?> step) {
    if (step instanceof Move move) {
      return move.id();
    }
    if (step instanceof Reserve reserve) {
      return reserve.id();
    }
    return step instanceof Post post ? post.id() : ((VoidPending) step).id();
  }

  private static void requireTwo(AccountId from, AccountId to) {
    if (from.equals(to)) {
      throw new IllegalArgumentException("Source and target must be two different accounts");
    }
  }
}
