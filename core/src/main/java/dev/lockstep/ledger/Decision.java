package dev.lockstep.ledger;

import dev.lockstep.combine.CommandDecision;
import dev.lockstep.ledger.Entry.Kind;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerCommand.VoidPending;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.BalanceOverflow;
import dev.lockstep.ledger.LedgerOutcome.BeyondReserved;
import dev.lockstep.ledger.LedgerOutcome.CurrencyMismatch;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.NotPending;
import dev.lockstep.ledger.LedgerOutcome.Refused;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.ledger.LedgerOutcome.UnknownAccount;
import dev.lockstep.ledger.LedgerOutcome.UnknownTransfer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides a batch: state and commands in, plan out. A pure function: every promise about money is
 * made here; the database only guards it.
 *
 * <p>Ends expired transfers first, then decides the commands in order, each on what the previous
 * ones left.
 */
final class Decision {
  private final Books books;

  private Decision(LedgerState state) {
    this.books = new Books(state);
  }

  /**
   * @param inOrder whether the commands come from one caller, who wants them decided in order. Then
   *     nothing is decided after a command that must be decided again
   */
  static Plan decide(LedgerState state, List<LedgerCommand<?>> commands, boolean inOrder) {
    return new Decision(state).plan(state, commands, inOrder);
  }

  private Plan plan(LedgerState state, List<LedgerCommand<?>> commands, boolean inOrder) {
    for (TransferId id : state.expired()) {
      books.transfer(id).ifPresent(this::current);
    }
    List<CommandDecision<LedgerOutcome>> decisions = new ArrayList<>(commands.size());
    for (LedgerCommand<?> command : commands) {
      LedgerOutcome outcome = command instanceof Linked linked ? linked(linked) : step(command);
      boolean again = state.moreExpired() && expiryMayCure(outcome);
      decisions.add(new CommandDecision<>(outcome, again));
      if (again && inOrder) {
        break;
      }
    }
    return books.plan(decisions);
  }

  /** Whether ending more expired transfers may cure a refusal, by freeing their money. */
  private boolean expiryMayCure(LedgerOutcome outcome) {
    if (outcome instanceof Refused refused) {
      return expiryMayCure(refused.why());
    }
    AccountId account =
        outcome instanceof InsufficientFunds lacking
            ? lacking.account()
            : outcome instanceof BalanceOverflow beyond ? beyond.account() : null;
    return account != null && books.account(account).orElseThrow().pending() > 0;
  }

  private LedgerOutcome step(LedgerCommand<?> command) {
    if (command instanceof Move move) {
      return transfer(
          new Asked(move.book(), move.id(), move.from(), move.to(), move.money(), null));
    }
    if (command instanceof Reserve r) {
      return transfer(new Asked(r.book(), r.id(), r.from(), r.to(), r.money(), r.holdFor()));
    }
    return command instanceof Post post ? post(post) : cancel((VoidPending) command);
  }

  private LinkedResult linked(Linked command) {
    books.begin();
    List<Transfer> done = new ArrayList<>(command.steps().size());
    boolean replayed = true;
    for (int i = 0; i < command.steps().size(); i++) {
      LedgerOutcome outcome = step(command.steps().get(i));
      if (!(outcome instanceof TransferDone one)) {
        books.undo();
        return new Refused(i, outcome);
      }
      done.add(one.transfer());
      replayed &= one.replayed();
    }
    books.keep();
    return new AllDone(done, replayed);
  }

  /** The common part of a move and a reservation; a move has no holdFor. */
  private record Asked(
      BookId book,
      TransferId id,
      AccountId from,
      AccountId to,
      Money money,
      @Nullable Duration holdFor) {

    boolean isSameAs(Transfer known) {
      Optional<Duration> pendingFor =
          known.expiresAt().map(until -> Duration.between(known.createdAt(), until));
      return known.from().equals(from)
          && known.to().equals(to)
          && known.money().equals(money)
          && pendingFor.equals(Optional.ofNullable(holdFor).map(Decision::storable));
    }

    Transfer at(Instant now) {
      return holdFor == null
          ? Transfer.moved(book, id, from, to, money, now)
          : new Transfer(
              book,
              id,
              from,
              to,
              money,
              TransferState.PENDING,
              0,
              now,
              Optional.of(now.plus(storable(holdFor))),
              Optional.empty());
    }
  }

  private TransferResult transfer(Asked asked) {
    Optional<Transfer> known = books.transfer(asked.id());
    if (known.isPresent()) {
      return asked.isSameAs(known.get())
          ? new TransferDone(current(known.get()), true)
          : new TransferIdReused(asked.id());
    }
    TransferResult refusal = refusalOf(asked);
    if (refusal != null) {
      return refusal;
    }
    Transfer transfer = asked.at(books.now());
    books.insert(transfer);
    if (asked.holdFor() != null) {
      books.change(asked.from(), transfer, Kind.RESERVED, 0, asked.money().amount());
    } else {
      move(transfer, Kind.MOVED, 0);
    }
    return new TransferDone(transfer, false);
  }

  private @Nullable TransferResult refusalOf(Asked asked) {
    Optional<Account> from = books.account(asked.from());
    Optional<Account> to = books.account(asked.to());
    if (from.isEmpty() || to.isEmpty()) {
      return new UnknownAccount(from.isEmpty() ? asked.from() : asked.to());
    }
    for (Account account : List.of(from.get(), to.get())) {
      if (!account.currency().equals(asked.money().currency())) {
        return new CurrencyMismatch(account.id(), account.currency(), asked.money().currency());
      }
    }
    long amount = asked.money().amount();
    long spendable = from.get().balance() - from.get().pending();
    boolean underflows = spendable < Long.MIN_VALUE + amount;
    boolean lacks =
        from.get().floor().isPresent()
            && (underflows || spendable - amount < from.get().floor().getAsLong());
    if (lacks) {
      return new InsufficientFunds(
          asked.from(), from.get().available().orElse(Long.MAX_VALUE), amount);
    }
    // balance - pending always fits into a long; pending must fit as well.
    if (underflows || from.get().pending() > Long.MAX_VALUE - amount) {
      return new BalanceOverflow(asked.from());
    }
    return asked.holdFor() == null && overflows(to.get(), amount)
        ? new BalanceOverflow(asked.to())
        : null;
  }

  private TransferEndResult post(Post command) {
    Optional<Transfer> found = books.transfer(command.id());
    if (found.isEmpty()) {
      return new UnknownTransfer(command.id());
    }
    Transfer transfer = current(found.get());
    long amount = command.amount().orElse(transfer.money().amount());
    if (transfer.state() != TransferState.PENDING) {
      boolean same =
          transfer.state() == TransferState.POSTED
              && transfer.expiresAt().isPresent()
              && transfer.posted() == amount;
      return same ? new TransferDone(transfer, true) : new NotPending(transfer);
    }
    if (amount > transfer.money().amount()) {
      return new BeyondReserved(transfer, amount);
    }
    if (overflows(books.account(transfer.to()).orElseThrow(), amount)) {
      return new BalanceOverflow(transfer.to());
    }
    Transfer posted = transfer.ended(TransferState.POSTED, amount, books.now());
    books.end(posted);
    move(posted, Kind.POSTED, -transfer.money().amount());
    return new TransferDone(posted, false);
  }

  private TransferEndResult cancel(VoidPending command) {
    Optional<Transfer> found = books.transfer(command.id());
    if (found.isEmpty()) {
      return new UnknownTransfer(command.id());
    }
    Transfer transfer = current(found.get());
    if (transfer.state() == TransferState.VOIDED) {
      return new TransferDone(transfer, true);
    }
    return transfer.state() == TransferState.PENDING
        ? new TransferDone(giveBack(transfer, TransferState.VOIDED, Kind.VOIDED), false)
        : new NotPending(transfer);
  }

  /** Returns the transfer's current state; ends it first if its time is up. */
  private Transfer current(Transfer stored) {
    return stored.isDue(books.now())
        ? giveBack(stored, TransferState.EXPIRED, Kind.EXPIRED)
        : stored;
  }

  private Transfer giveBack(Transfer transfer, TransferState end, Kind kind) {
    Transfer over = transfer.ended(end, 0, books.now());
    books.end(over);
    books.change(transfer.from(), over, kind, 0, -transfer.money().amount());
    return over;
  }

  /** Changes both sides in one step: at no moment is money nowhere. */
  private void move(Transfer posted, Kind kind, long reserved) {
    books.change(posted.from(), posted, kind, -posted.posted(), reserved);
    books.change(posted.to(), posted, kind, posted.posted(), 0);
  }

  /** Rounds to the database's precision, so that an answer and its replay are equal. */
  private static Duration storable(Duration holdFor) {
    return holdFor.truncatedTo(ChronoUnit.MICROS);
  }

  /** Whether the account's balance would overflow. */
  private static boolean overflows(Account account, long amount) {
    return account.balance() > Long.MAX_VALUE - amount;
  }
}
