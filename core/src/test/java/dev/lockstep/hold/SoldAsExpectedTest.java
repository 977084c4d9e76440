package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.LinesDiffer;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A confirmation that says what was paid for sells that and nothing else. */
class SoldAsExpectedTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @ParameterizedTest
  @EnumSource(Door.class)
  void aHoldWithOtherLinesIsNotSold(Door door) {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    PoolId other = sale.counted(10);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));
    List<String> before = sale.everything();

    for (List<Line> paid :
        List.of(
            List.of(Line.of(pool, 5)),
            List.of(Line.of(other, 1)),
            List.of(Line.of(pool, 1), Line.of(other, 1)))) {
      HoldEndResult refused =
          sale.ask(door, sale.node(), sale.confirm(hold.id(), paid.toArray(Line[]::new)));
      assertThat(refused).isEqualTo(new LinesDiffer(hold));
    }

    assertThat(sale.everything()).isEqualTo(before);
    assertThat(sale.ask(door, sale.node(), sale.confirm(hold.id(), Line.of(pool, 1))))
        .isInstanceOf(Ended.class);
  }

  /** The change waits in the same queue, and is decided first. */
  @Test
  void aChangeThatOvertookTheConfirmationIsNoticed() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));

    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      List<HoldOutcome> outcomes =
          sale.node()
              .joinAll(
                  connection,
                  List.of(
                      sale.change(hold.id(), Line.of(pool, 5)),
                      sale.confirm(hold.id(), Line.of(pool, 1))));
      connection.commit();
      assertThat(outcomes.get(0)).isInstanceOf(Granted.class);
      assertThat(outcomes.get(1)).isInstanceOf(LinesDiffer.class);
    }

    assertThat(sale.find(hold.id()).state()).isEqualTo(HoldState.HELD);
  }

  @Test
  void aLineThatNamesItsUnitsIsSoldWithTheseOnly() {
    Sale sale = fixture.sale();
    PoolId seats = sale.units(10);
    Hold hold = sale.hold("buyer", Line.units(seats, List.of(3, 4)));

    assertThat(sale.ask(sale.confirm(hold.id(), Line.units(seats, List.of(3, 5)))))
        .isEqualTo(new LinesDiffer(hold));
    assertThat(sale.ask(sale.confirm(hold.id(), Line.units(seats, List.of(4, 3)))))
        .isInstanceOf(Ended.class);
    assertThat(sale.ask(sale.confirm(hold.id(), Line.of(seats, 2)))).isInstanceOf(Ended.class);
  }
}
