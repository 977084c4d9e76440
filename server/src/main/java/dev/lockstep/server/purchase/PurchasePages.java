package dev.lockstep.server.purchase;

import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.sql.RoundTrip;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Lists of purchases, newest first. */
final class PurchasePages {
  private PurchasePages() {}

  /** What to list; empty fields match everything. */
  record Filter(Optional<String> buyer, Optional<Long> campaign, Optional<PurchaseStatus> status) {

    /** A buyer's key lists only its own purchases, whatever it asks for. */
    static Filter of(Request request) {
      Optional<String> own = request.principal().buyer();
      Optional<String> wanted = request.query("buyer");
      if (own.isPresent() && wanted.isPresent() && !wanted.equals(own)) {
        throw Problem.forbidden("A buyer's key sees only that buyer's purchases.").asException();
      }
      return new Filter(
          own.or(() -> wanted),
          Campaigns.named(request.query("campaign")),
          request
              .query("status", Shape.choice(PurchaseStatus.labels()))
              .flatMap(PurchaseStatus::find));
    }
  }

  /** The last purchase of a page: its time in microseconds, and its id. */
  record Cursor(Instant createdAt, PurchaseId id) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,17})-(.{1,64})");
    private static final long MICROS = 1_000_000;

    static Cursor of(Purchase purchase) {
      return new Cursor(purchase.createdAt(), purchase.id());
    }

    static Cursor parse(String text) {
      Matcher matcher = FORM.matcher(text);
      Optional<PurchaseId> id =
          matcher.matches() ? PurchaseId.find(matcher.group(2)) : Optional.empty();
      if (id.isEmpty()) {
        throw new IllegalArgumentException("not the cursor of a purchase");
      }
      long micros = Long.parseLong(matcher.group(1));
      return new Cursor(Instant.ofEpochSecond(micros / MICROS, micros % MICROS * 1_000), id.get());
    }

    @Override
    public String toString() {
      long micros = createdAt.getEpochSecond() * MICROS + createdAt.getNano() / 1_000;
      return micros + "-" + id;
    }
  }

  /** One more than fits on the page, if there are more. */
  static List<Purchase> read(Connection connection, Filter filter, Page page) throws SQLException {
    StringBuilder sql = new StringBuilder("SELECT " + PurchaseTable.COLUMNS);
    sql.append(" FROM lockstep_server.purchase p WHERE true");
    List<Object> parameters = new ArrayList<>();
    filter
        .buyer()
        .ifPresent(
            buyer -> {
              sql.append(" AND p.buyer = ?");
              parameters.add(buyer);
            });
    filter
        .campaign()
        .ifPresent(
            campaign -> {
              sql.append(" AND p.campaign = ?");
              parameters.add(campaign);
            });
    filter
        .status()
        .ifPresent(
            status -> {
              sql.append(" AND p.status = ?");
              parameters.add(status.code());
            });
    page.after(Cursor::parse)
        .ifPresent(
            cursor -> {
              sql.append(" AND (p.created_at, p.campaign, p.id) < (?, ?, ?)");
              parameters.add(cursor.createdAt().atOffset(ZoneOffset.UTC));
              parameters.add(cursor.id().campaign());
              parameters.add(cursor.id().value());
            });
    sql.append(" ORDER BY p.created_at DESC, p.campaign DESC, p.id DESC LIMIT ?");
    parameters.add(page.limit() + 1);
    return RoundTrip.list(connection, sql.toString(), PurchaseTable::read, parameters.toArray());
  }
}
