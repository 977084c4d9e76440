package dev.lockstep.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TextOrderTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.empty().withIcuLocale("en-US");

  private static final List<String> WORDS =
      List.of(
          "a", "B", "b", "", "ab", "é", "z", "Ａ", "😀", "😁", "�", "a b", "a-b", "a\uE000", "a😀");

  @Test
  void bothSidesSortTextTheSameWhateverTheCollationOfTheDatabase() {
    String sorted = "SELECT w FROM unnest(?) AS w ORDER BY w ";
    String[] words = WORDS.toArray(String[]::new);
    List<String> here = WORDS.stream().sorted(LockOrder.TEXT).toList();

    assertThat(
            database.query(sorted + LockOrder.COLLATION, row -> row.getString(1), (Object) words))
        .isEqualTo(here);
    assertThat(database.query(sorted, row -> row.getString(1), (Object) words))
        .as("its own order is another")
        .isNotEqualTo(here);
    assertThat(WORDS.stream().sorted().toList()).as("and so is Java's").isNotEqualTo(here);
  }
}
