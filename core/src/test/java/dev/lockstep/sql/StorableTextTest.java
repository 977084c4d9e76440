package dev.lockstep.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StorableTextTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @ParameterizedTest
  @ValueSource(
      strings = {"", " ", "a", "é", "日本", "\uD834\uDD1E", "\uD834\uDD1Ea\uD834\uDD1E", "\n"})
  void whatIsStorableComesBackAsItWas(String text) throws SQLException {
    assertThat(StorableText.is(text)).isTrue();
    assertThat(thereAndBack(text)).isEqualTo(text);
    assertThat(StorableText.of(text, 100)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\0", "a\0b", "\uD834", "a\uD834", "\uDD1E", "\uDD1E\uD834", "\uD834\uD834\uDD1E"})
  void whatIsNotDoesNotAndIsMadeSo(String text) throws SQLException {
    assertThat(StorableText.is(text)).isFalse();
    assertThat(survives(text)).isFalse();

    String made = StorableText.of(text, 100);
    assertThat(thereAndBack(made)).isEqualTo(made).hasSameSizeAs(text);
  }

  @Test
  void aTextThatIsCutIsNotCutWithinACharacter() throws SQLException {
    String cut = StorableText.of("ab\uD834\uDD1E", 3);

    assertThat(thereAndBack(cut)).isEqualTo(cut).startsWith("ab").hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " \t", "abcd", "a\0", "\uD834"})
  void aNameIsNeitherBlankNorTooLongNorOtherThanItWillBe(String name) {
    assertThatThrownBy(() -> StorableText.require("A name", name, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("A name is 1 to 3 characters, without NUL and half characters");
  }

  @Test
  void aNameMayBeAsLongAsItMay() {
    assertThatCode(() -> StorableText.require("A name", "abc", 3)).doesNotThrowAnyException();
  }

  private static boolean survives(String text) {
    try {
      return thereAndBack(text).equals(text);
    } catch (SQLException refused) {
      return false;
    }
  }

  private static String thereAndBack(String text) throws SQLException {
    try (Connection connection = database.connection();
        PreparedStatement statement = connection.prepareStatement("SELECT ?::text")) {
      statement.setString(1, text);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getString(1);
      }
    }
  }
}
