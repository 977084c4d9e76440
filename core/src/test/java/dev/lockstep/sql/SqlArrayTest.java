package dev.lockstep.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays arrive as they were sent, in whatever form the driver is allowed to send them. */
class SqlArrayTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final List<@Nullable UUID> IDS =
      Arrays.asList(
          UUID.randomUUID(), null, new UUID(0, 0), new UUID(-1, -1), new UUID(Long.MIN_VALUE, 1));

  @ParameterizedTest
  @ValueSource(strings = {"extended", "simple"})
  void idsArriveInOrderAndWithTheirNulls(String mode) throws SQLException {
    assertThat(sent(mode, SqlArray.uuids(IDS)))
        .isEqualTo(IDS.stream().map(id -> id == null ? null : id.toString()).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"extended", "simple"})
  void placesArriveUpToTheLastPageThereCanBe(String mode) throws SQLException {
    List<@Nullable Ctid> places =
        Arrays.asList(
            new Ctid(0, (short) 1), null, new Ctid(70_000, (short) 291), new Ctid(-2, (short) -1));
    assertThat(sent(mode, SqlArray.ctids(places)))
        .containsExactly("(0,1)", null, "(70000,291)", "(4294967294,65535)");
  }

  @Test
  void anEmptyArrayIsOne() throws SQLException {
    assertThat(sent("extended", SqlArray.uuids(List.of()))).isEmpty();
    assertThat(sent("extended", SqlArray.ctids(List.of()))).isEmpty();
  }

  private static List<@Nullable String> sent(String mode, SqlArray array) throws SQLException {
    String url =
        "%s%spreferQueryMode=%s"
            .formatted(database.url(), database.url().contains("?") ? "&" : "?", mode);
    try (Connection connection =
        DriverManager.getConnection(url, database.user(), database.password())) {
      RoundTrip trip = new RoundTrip(connection);
      Rows<String> rows =
          trip.query(
              """
              SELECT coalesce(x::text, 'null') FROM unnest(?::%s[]) WITH ORDINALITY AS u (x, n)
              ORDER BY n"""
                  .formatted(array.type()),
              row -> row.getString(1),
              array);
      trip.send();
      return rows.list().stream().map(text -> text.equals("null") ? null : text).toList();
    }
  }
}
