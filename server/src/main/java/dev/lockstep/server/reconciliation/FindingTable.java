package dev.lockstep.server.reconciliation;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The findings. Uses the caller's connection. */
final class FindingTable {
  /**
   * Beyond this, findings of one kind are only counted; the first thousands tell enough. Known ones
   * are still updated, and each campaign keeps its first, which pauses it.
   */
  static final int MAX_OF_A_KIND = 10_000;

  private static final String COLUMNS =
      "kind, campaign, subject, purchase, hold, buyer, payment, amount, currency, since, detail";

  // In key order, so that two nodes cannot deadlock.
  private static final String SAVE =
      """
      WITH x AS MATERIALIZED (
        SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?::timestamptz[], ?) AS x (%s)),
      full_kind AS MATERIALIZED (
        SELECT k.kind FROM (SELECT DISTINCT kind FROM x) k
        WHERE (SELECT count(*) FROM (SELECT 1 FROM lockstep_server.reconciliation_finding o
               WHERE o.kind = k.kind LIMIT ?) c) >= ?)
      INSERT INTO lockstep_server.reconciliation_finding AS f (%s, found_at, seen_at, acted)
      SELECT x.*, now(), now(), NOT (x.kind = ANY (?))
      FROM x
      WHERE x.kind NOT IN (SELECT kind FROM full_kind)
        OR EXISTS (SELECT 1 FROM lockstep_server.reconciliation_finding o
             WHERE o.campaign = x.campaign AND o.kind = x.kind AND o.subject = x.subject)
        OR NOT EXISTS (SELECT 1 FROM lockstep_server.reconciliation_finding o
             WHERE o.campaign = x.campaign AND o.kind = x.kind)
      ORDER BY x.campaign, x.kind, x.subject
      ON CONFLICT (campaign, kind, subject) DO UPDATE
      SET detail = excluded.detail, amount = excluded.amount, payment = excluded.payment, seen_at = now()
      RETURNING kind, xmax = 0"""
          .formatted(COLUMNS, COLUMNS);

  private static final String COUNTS =
      "SELECT kind, count(*) FROM lockstep_server.reconciliation_finding GROUP BY kind";

  private static final String OF_KINDS =
      "SELECT "
          + COLUMNS
          + " FROM lockstep_server.reconciliation_finding WHERE kind = ANY (?)"
          + " ORDER BY since, campaign, kind, subject LIMIT ?";

  // By key, so that the next page moves on whatever happens to this one.
  private static final String NOT_SEEN_SINCE =
      "SELECT "
          + COLUMNS
          + " FROM lockstep_server.reconciliation_finding"
          + " WHERE (campaign, kind, subject) > (?, ?, ?) AND seen_at < ? AND kind = ANY (?)"
          + " ORDER BY campaign, kind, subject LIMIT ?";

  private static final String FORGET =
      """
      DELETE FROM lockstep_server.reconciliation_finding
      WHERE campaign = ? AND kind = ? AND subject = ?""";

  private static final String FORGET_SUBJECT =
      "DELETE FROM lockstep_server.reconciliation_finding WHERE kind = ANY (?) AND subject = ?";

  // One per campaign, so that a campaign with many leaves room for others.
  private static final String UNACTED =
      "SELECT DISTINCT ON (campaign) "
          + COLUMNS
          + " FROM lockstep_server.reconciliation_finding WHERE NOT acted"
          + " ORDER BY campaign, found_at LIMIT 1000";

  private static final String ACTED =
      """
      UPDATE lockstep_server.reconciliation_finding SET acted = true
      WHERE campaign = ? AND NOT acted AND found_at <= now() AND kind = ANY (?)""";

  private FindingTable() {}

  /** A finding's key, and its position in key order. */
  record Key(long campaign, String kind, String subject) {
    static final Key START = new Key(-1, "", "");

    static Key of(Finding finding) {
      return new Key(finding.campaign(), finding.kind().label(), finding.subject());
    }
  }

  /** Stores findings; returns how many of each kind are new. */
  static Map<FindingKind, Integer> save(Connection connection, Collection<Finding> findings)
      throws SQLException {
    Map<FindingKind, Integer> fresh = new EnumMap<>(FindingKind.class);
    if (findings.isEmpty()) {
      return fresh;
    }
    Map<Key, Finding> byKey = new LinkedHashMap<>();
    findings.forEach(one -> byKey.put(Key.of(one), one));
    List<Finding> all = List.copyOf(byKey.values());
    RoundTrip trip = new RoundTrip(connection);
    trip.query(
        SAVE,
        row -> {
          if (row.getBoolean(2)) {
            FindingKind.find(row.getString(1))
                .ifPresent(kind -> fresh.merge(kind, 1, Integer::sum));
          }
          return true;
        },
        texts(all, one -> one.kind().label()),
        SqlArray.bigints(all.stream().map(Finding::campaign).toList()),
        texts(all, Finding::subject),
        texts(all, Finding::purchase),
        texts(all, Finding::hold),
        texts(all, Finding::buyer),
        texts(all, Finding::payment),
        SqlArray.bigints(all.stream().map(Finding::amount).toList()),
        texts(all, Finding::currency),
        texts(all, one -> one.since().toString()),
        texts(all, Finding::detail),
        MAX_OF_A_KIND,
        MAX_OF_A_KIND,
        kinds(FindingKind::pauses));
    trip.send();
    return fresh;
  }

  static Map<FindingKind, Long> counts(Connection connection) throws SQLException {
    Map<FindingKind, Long> counts = new EnumMap<>(FindingKind.class);
    RoundTrip trip = new RoundTrip(connection);
    trip.query(
        COUNTS,
        row -> {
          long count = row.getLong(2);
          FindingKind.find(row.getString(1)).ifPresent(kind -> counts.put(kind, count));
          return true;
        });
    trip.send();
    return counts;
  }

  static List<Finding> list(Connection connection, FindingKind.Group group, int limit)
      throws SQLException {
    return read(connection, OF_KINDS, kinds(kind -> kind.group() == group), limit);
  }

  /** Findings of the database's own kinds that were not seen since. */
  static List<Finding> toRecheck(Connection connection, Instant since, Key after, int limit)
      throws SQLException {
    return read(
        connection,
        NOT_SEEN_SINCE,
        after.campaign(),
        after.kind(),
        after.subject(),
        since.atOffset(ZoneOffset.UTC),
        kinds(kind -> !kind.ofProvider()),
        limit);
  }

  static void forget(Connection connection, Collection<Finding> mended) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    for (Finding one : mended) {
      trip.update(FORGET, one.campaign(), one.kind().label(), one.subject());
    }
    trip.send();
  }

  /** Forgets all findings of the provider about this payment or refund. */
  static void forgetOfProvider(Connection connection, String subject) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(FORGET_SUBJECT, kinds(FindingKind::ofProvider), subject);
    trip.send();
  }

  /** Forgets its earlier findings of any other kind. */
  static void forgetOthersOfProvider(Connection connection, String subject, FindingKind but)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(FORGET_SUBJECT, kinds(kind -> kind.ofProvider() && kind != but), subject);
    trip.send();
  }

  /** Findings whose campaigns are still to be paused, the first of each. */
  static List<Finding> unacted(Connection connection) throws SQLException {
    return read(connection, UNACTED);
  }

  static void acted(Connection connection, long campaign) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(ACTED, campaign, kinds(FindingKind::pauses));
    trip.send();
  }

  private static List<Finding> read(Connection connection, String sql, Object... parameters)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<List<Finding>> rows = trip.query(sql, FindingTable::finding, parameters);
    trip.send();
    return rows.list().stream().flatMap(List::stream).toList();
  }

  /** Empty for a kind written by a newer release. */
  private static List<Finding> finding(ResultSet row) throws SQLException {
    List<Finding> found = new ArrayList<>();
    FindingKind kind = FindingKind.find(row.getString("kind")).orElse(null);
    if (kind != null) {
      found.add(
          new Finding(
              kind,
              row.getLong("campaign"),
              row.getString("subject"),
              row.getString("purchase"),
              row.getString("hold"),
              row.getString("buyer"),
              row.getString("payment"),
              row.getLong("amount"),
              row.getString("currency"),
              row.getObject("since", OffsetDateTime.class).toInstant(),
              row.getString("detail")));
    }
    return found;
  }

  private static SqlArray kinds(Function<FindingKind, Boolean> which) {
    return SqlArray.texts(
        Arrays.stream(FindingKind.values())
            .filter(which::apply)
            .map(FindingKind::label)
            .collect(Collectors.toList()));
  }

  private static SqlArray texts(
      List<Finding> findings, Function<Finding, @Nullable String> column) {
    List<@Nullable String> values = new ArrayList<>();
    findings.forEach(one -> values.add(column.apply(one)));
    return SqlArray.texts(values);
  }
}
