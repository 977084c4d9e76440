package dev.lockstep.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.sql.StoredEnum;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The audit reads the tables of holds without knowing that block, so it has their numbers, too. */
class SameNumbersTest {
  @Test
  void aHoldStandsAsItsBlockSays() {
    assertThat(numbers(HoldCode.values())).isEqualTo(numbers(HoldState.values()));
  }

  @Test
  void stockChangesForTheReasonsThatItsBlockSays() {
    assertThat(numbers(CauseCode.values())).isEqualTo(numbers(Cause.values()));
  }

  private static Map<String, Short> numbers(StoredEnum[] constants) {
    return Arrays.stream(constants).collect(Collectors.toMap(StoredEnum::name, StoredEnum::code));
  }
}
