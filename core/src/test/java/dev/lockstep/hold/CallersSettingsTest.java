package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands on a caller's connection leave its settings as they were. */
class CallersSettingsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @ParameterizedTest
  @ValueSource(strings = {"enable_nestloop", "enable_hashjoin", "enable_seqscan", "jit"})
  void aSettingOfTheCallersIsAsItWasAfterACartOfTwoPools(String setting) {
    Sale sale = fixture.sale();
    PoolId one = sale.counted(10);
    PoolId two = sale.counted(10);

    for (String value : new String[] {"on", "off"}) {
      String after =
          sale.transactor()
              .call(
                  c -> {
                    Sql.execute(c, "SET LOCAL %s = %s".formatted(setting, value));
                    HoldCommand<?> cart =
                        sale.acquire("buyer-" + value, Line.of(one, 1), Line.of(two, 1));
                    assertThat(sale.node().join(c, cart)).isInstanceOf(HoldOutcome.Granted.class);
                    return Sql.text(c, "SHOW " + setting);
                  });
      assertThat(after).isEqualTo(value);
    }
  }
}
