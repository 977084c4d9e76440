package dev.lockstep.ledger;

import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerCommand.VoidPending;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What a bank clerk would answer who has all the time in the world and does one thing after the
 * other: no batches, no versions, numbers without bound.
 */
final class PlainBank {
  private static final BigInteger MAX = BigInteger.valueOf(Long.MAX_VALUE);
  private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);

  private final Map<AccountId, NewAccount> accounts = new HashMap<>();
  private Map<AccountId, BigInteger> balances = new HashMap<>();
  private Map<TransferId, Slip> slips = new HashMap<>();

  private record Slip(
      AccountId from,
      AccountId to,
      Money money,
      Optional<Duration> holdFor,
      String state,
      long posted,
      Instant until) {
    Slip with(String end, long moved) {
      return new Slip(from, to, money, holdFor, end, moved, until);
    }
  }

  PlainBank(List<NewAccount> opened) {
    for (NewAccount account : opened) {
      accounts.put(account.id(), account);
      balances.put(account.id(), BigInteger.ZERO);
    }
  }

  String answer(Instant now, LedgerCommand<?> command) {
    slips.replaceAll(
        (id, slip) ->
            slip.state().equals("PENDING") && !slip.until().isAfter(now)
                ? slip.with("EXPIRED", 0)
                : slip);
    return command instanceof Linked linked ? linked(now, linked) : step(now, command);
  }

  private String linked(Instant now, Linked linked) {
    Map<AccountId, BigInteger> balancesBefore = new HashMap<>(balances);
    Map<TransferId, Slip> slipsBefore = new HashMap<>(slips);
    StringBuilder done = new StringBuilder("AllDone");
    boolean replayed = true;
    for (int i = 0; i < linked.steps().size(); i++) {
      String answer = step(now, linked.steps().get(i));
      if (!answer.startsWith("TransferDone")) {
        balances = balancesBefore;
        slips = slipsBefore;
        return "Refused " + i + " " + answer;
      }
      replayed &= answer.endsWith("again");
      done.append(' ').append(answer.replace(" again", ""));
    }
    return done + (replayed ? " again" : "");
  }

  private String step(Instant now, LedgerCommand<?> command) {
    if (command instanceof Move m) {
      return transfer(m.id(), new Slip(m.from(), m.to(), m.money(), Optional.empty(), "", 0, now));
    }
    if (command instanceof Reserve r) {
      return transfer(
          r.id(),
          new Slip(
              r.from(), r.to(), r.money(), Optional.of(r.holdFor()), "", 0, now.plus(r.holdFor())));
    }
    return command instanceof Post post ? post(post) : cancel((VoidPending) command);
  }

  private String transfer(TransferId id, Slip asked) {
    Slip known = slips.get(id);
    if (known != null) {
      boolean same =
          known.from().equals(asked.from())
              && known.to().equals(asked.to())
              && known.money().equals(asked.money())
              && known.holdFor().equals(asked.holdFor());
      return same
          ? "TransferDone " + known.state() + " " + known.posted() + " again"
          : "TransferIdReused";
    }
    for (AccountId account : List.of(asked.from(), asked.to())) {
      if (!accounts.containsKey(account)) {
        return "UnknownAccount " + account.value();
      }
    }
    for (AccountId account : List.of(asked.from(), asked.to())) {
      if (!opened(account).currency().equals(asked.money().currency())) {
        return "CurrencyMismatch " + account.value();
      }
    }
    BigInteger amount = BigInteger.valueOf(asked.money().amount());
    BigInteger spendable = balance(asked.from()).subtract(reserved(asked.from()));
    NewAccount from = opened(asked.from());
    if (from.floor().isPresent()
        && spendable.subtract(amount).compareTo(BigInteger.valueOf(from.floor().getAsLong())) < 0) {
      BigInteger available = spendable.subtract(BigInteger.valueOf(from.floor().getAsLong()));
      return "InsufficientFunds " + asked.from().value() + " " + available.min(MAX);
    }
    if (spendable.subtract(amount).compareTo(MIN) < 0
        || reserved(asked.from()).add(amount).compareTo(MAX) > 0) {
      return "BalanceOverflow " + asked.from().value();
    }
    boolean pending = asked.holdFor().isPresent();
    if (!pending && balance(asked.to()).add(amount).compareTo(MAX) > 0) {
      return "BalanceOverflow " + asked.to().value();
    }
    Slip slip = pending ? asked.with("PENDING", 0) : asked.with("POSTED", asked.money().amount());
    slips.put(id, slip);
    if (!pending) {
      move(slip);
    }
    return "TransferDone " + slip.state() + " " + slip.posted();
  }

  private String post(Post post) {
    Slip slip = slips.get(post.id());
    if (slip == null) {
      return "UnknownTransfer";
    }
    long amount = post.amount().orElse(slip.money().amount());
    if (!slip.state().equals("PENDING")) {
      return slip.state().equals("POSTED") && slip.holdFor().isPresent() && slip.posted() == amount
          ? "TransferDone POSTED " + amount + " again"
          : "NotPending " + slip.state();
    }
    if (amount > slip.money().amount()) {
      return "BeyondReserved";
    }
    if (balance(slip.to()).add(BigInteger.valueOf(amount)).compareTo(MAX) > 0) {
      return "BalanceOverflow " + slip.to().value();
    }
    Slip posted = slip.with("POSTED", amount);
    slips.put(post.id(), posted);
    move(posted);
    return "TransferDone POSTED " + amount;
  }

  private String cancel(VoidPending cancel) {
    Slip slip = slips.get(cancel.id());
    if (slip == null) {
      return "UnknownTransfer";
    }
    if (slip.state().equals("VOIDED")) {
      return "TransferDone VOIDED 0 again";
    }
    if (!slip.state().equals("PENDING")) {
      return "NotPending " + slip.state();
    }
    slips.put(cancel.id(), slip.with("VOIDED", 0));
    return "TransferDone VOIDED 0";
  }

  private NewAccount opened(AccountId account) {
    return Objects.requireNonNull(accounts.get(account));
  }

  private BigInteger balance(AccountId account) {
    return Objects.requireNonNull(balances.get(account));
  }

  private void move(Slip slip) {
    BigInteger amount = BigInteger.valueOf(slip.posted());
    balances.merge(slip.from(), amount.negate(), BigInteger::add);
    balances.merge(slip.to(), amount, BigInteger::add);
  }

  private BigInteger reserved(AccountId account) {
    return slips.values().stream()
        .filter(slip -> slip.state().equals("PENDING") && slip.from().equals(account))
        .map(slip -> BigInteger.valueOf(slip.money().amount()))
        .reduce(BigInteger.ZERO, BigInteger::add);
  }
}
