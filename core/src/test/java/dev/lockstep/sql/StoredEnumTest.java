package dev.lockstep.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class StoredEnumTest {
  private enum Light implements StoredEnum {
    RED(3),
    GREEN_AGAIN(5);

    private final int code;

    Light(int code) {
      this.code = code;
    }

    @Override
    public short code() {
      return (short) code;
    }
  }

  @Test
  void aStatementNamesConstantsAndGetsTheirNumbers() {
    assertThat(
            StoredEnum.sql(
                "SELECT '{}' FROM t WHERE s IN ({Light.RED}, {Light.GREEN_AGAIN})", Light.class))
        .isEqualTo("SELECT '{}' FROM t WHERE s IN (3, 5)");
  }

  @Test
  void aNameThatNoConstantHasIsRefused() {
    assertThatThrownBy(() -> StoredEnum.sql("s = {Light.BLUE}", Light.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Light.BLUE");
  }
}
