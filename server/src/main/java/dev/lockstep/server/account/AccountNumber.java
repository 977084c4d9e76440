package dev.lockstep.server.account;

import dev.lockstep.ledger.Account;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.server.api.Problem;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An account's id as clients know it: book, dot, number. */
record AccountNumber(BookId book, AccountId account) {
  /** The book of accounts that belong to no campaign. */
  static final BookId GENERAL = new BookId(0);

  private static final Pattern FORM = Pattern.compile("(0|[1-9]\\d{0,17})\\.([1-9]\\d{0,17})");

  static AccountNumber of(String text) {
    return find(text).orElseThrow(() -> Problem.notFound("such account").asException());
  }

  static Optional<AccountNumber> find(String text) {
    Matcher matcher = FORM.matcher(text);
    return matcher.matches()
        ? Optional.of(
            new AccountNumber(
                new BookId(Long.parseLong(matcher.group(1))),
                new AccountId(Long.parseLong(matcher.group(2)))))
        : Optional.empty();
  }

  static AccountNumber of(Account account) {
    return new AccountNumber(account.book(), account.id());
  }

  @Override
  public String toString() {
    return book.value() + "." + account.value();
  }
}
