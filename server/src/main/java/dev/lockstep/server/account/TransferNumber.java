package dev.lockstep.server.account;

import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.server.api.Problem;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A transfer's id as clients know it: book, dot, transfer. */
record TransferNumber(BookId book, TransferId transfer) {
  private static final Pattern FORM =
      Pattern.compile("(0|[1-9]\\d{0,17})\\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

  static TransferNumber of(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw Problem.notFound("such transfer").asException();
    }
    return new TransferNumber(
        new BookId(Long.parseLong(matcher.group(1))), TransferId.of(matcher.group(2)));
  }

  @Override
  public String toString() {
    return book.value() + "." + transfer;
  }
}
