package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The order in which units are given out can be computed again by anyone who has the seed. */
class UnitShuffleTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final byte[] SEED = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f");
  private static final PoolId ONE = new PoolId(1);

  /** Made by another program from the description at {@link UnitShuffle} alone. */
  @Test
  void theOrderIsTheOneThatIsDocumented() {
    UnitShuffle shuffle = UnitShuffle.seeded(SEED);

    assertThat(shuffle.order(ONE, 10)).containsExactly(8, 4, 2, 9, 3, 6, 5, 1, 7, 0);
    assertThat(shuffle.order(new PoolId(2), 10)).containsExactly(1, 8, 9, 5, 3, 2, 0, 7, 6, 4);
    assertThat(
            UnitShuffle.seeded("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
                .order(new PoolId(-1), 5))
        .containsExactly(0, 2, 1, 4, 3);
  }

  @Test
  void aPlainReadingOfTheDocumentationGivesTheSame() throws Exception {
    for (int total : new int[] {0, 1, 2, 3, 100, 1_275}) {
      List<Integer> plain = new PlainShuffle(SEED, 77).order(total);

      assertThat(UnitShuffle.seeded(SEED).order(new PoolId(77), total))
          .containsExactly(plain.stream().mapToInt(Integer::intValue).toArray());
    }
  }

  @Test
  void everyUnitComesExactlyOnce() {
    int[] order = UnitShuffle.seeded(SEED).order(ONE, 10_000);

    Arrays.sort(order);
    assertThat(order).containsExactly(IntStream.range(0, 10_000).toArray());
  }

  @Test
  void theSameSeedGivesTheSameOrderAndAnotherPoolOrSeedAnother() {
    int[] order = UnitShuffle.seeded(SEED).order(ONE, 100);

    assertThat(UnitShuffle.seeded(SEED).order(ONE, 100)).isEqualTo(order);
    assertThat(UnitShuffle.seeded(SEED).order(new PoolId(2), 100)).isNotEqualTo(order);
    assertThat(UnitShuffle.seeded("ff".repeat(16)).order(ONE, 100)).isNotEqualTo(order);
  }

  @Test
  void theSeedIsCopiedWhenItIsGiven() {
    byte[] mine = SEED.clone();
    UnitShuffle shuffle = UnitShuffle.seeded(mine);
    Arrays.fill(mine, (byte) 0);

    assertThat(shuffle.order(ONE, 10)).isEqualTo(UnitShuffle.seeded(SEED).order(ONE, 10));
  }

  /** The seeds are fixed, so this is no test of luck: about 1,500 each, with 200 to spare. */
  @Test
  void overManySeedsEveryUnitComesInEveryPlaceAboutEquallyOften() {
    int seeds = 6_000;
    int[][] times = new int[4][4];
    for (int seed = 0; seed < seeds; seed++) {
      byte[] bytes = ByteBuffer.allocate(16).putInt(seed).array();
      int[] order = UnitShuffle.seeded(bytes).order(ONE, 4);
      for (int place = 0; place < 4; place++) {
        times[place][order[place]]++;
      }
    }

    for (int[] place : times) {
      assertThat(Arrays.stream(place).boxed())
          .allSatisfy(count -> assertThat(count).isBetween(1_300, 1_700));
    }
  }

  @Test
  void aMillionUnitsAreCreatedInOneGoInTheOrderOfTheShuffle() {
    int million = 1_000_000;
    Sale sale = fixture.sale();
    PoolId pool = sale.units(million);

    int[] stored = new int[million];
    database.query(
        "SELECT rank, unit FROM lockstep.unit WHERE scope = ? AND pool = ?",
        row -> stored[row.getInt(1)] = row.getInt(2) + 1,
        sale.scope().value(),
        pool.value());

    int[] order = Sale.SHUFFLE.order(pool, million);
    // One more than the unit, so that a rank without a row shows.
    assertThat(stored).isEqualTo(Arrays.stream(order).map(unit -> unit + 1).toArray());
    assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, million, 0, 0));
    assertThat(sale.hold("first", Line.of(pool, 3)).lines().get(0).units())
        .containsExactly(order[0], order[1], order[2]);
  }

  @Test
  void buyersGetTheUnitsInTheOrderOfTheShuffleAndThoseGivenBackAtLast() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(6);
    List<Integer> order =
        Arrays.stream(Sale.SHUFFLE.order(pool, 6)).boxed().collect(Collectors.toList());

    Hold first = sale.hold("first", Line.of(pool, 2));
    Hold second = sale.hold("second", Line.of(pool, 2));
    sale.ask(sale.release(first.id()));
    Hold rest = sale.hold("rest", Line.of(pool, 4));

    assertThat(first.lines().get(0).units()).isEqualTo(order.subList(0, 2));
    assertThat(second.lines().get(0).units()).isEqualTo(order.subList(2, 4));
    Collections.rotate(order, -4);
    assertThat(rest.lines().get(0).units()).isEqualTo(order.subList(0, 4));
  }

  /** As slow and as literal as the description. */
  private static final class PlainShuffle {
    private static final BigInteger WORDS = BigInteger.ONE.shiftLeft(63);

    private final byte[] seed;
    private final long pool;
    private final ArrayDeque<BigInteger> words = new ArrayDeque<>();
    private long counter;

    PlainShuffle(byte[] seed, long pool) {
      this.seed = seed;
      this.pool = pool;
    }

    List<Integer> order(int total) throws Exception {
      List<Integer> units = IntStream.range(0, total).boxed().collect(Collectors.toList());
      for (int last = total - 1; last > 0; last--) {
        Collections.swap(units, last, below(BigInteger.valueOf(last + 1)).intValueExact());
      }
      return units;
    }

    private BigInteger below(BigInteger bound) throws Exception {
      BigInteger fair = WORDS.subtract(WORDS.mod(bound));
      BigInteger word = next();
      while (word.compareTo(fair) >= 0) {
        word = next();
      }
      return word.mod(bound);
    }

    private BigInteger next() throws Exception {
      if (words.isEmpty()) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        text.writeBytes(seed);
        text.writeBytes(ByteBuffer.allocate(16).putLong(pool).putLong(counter++).array());
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.toByteArray());
        for (int from = 0; from < digest.length; from += 8) {
          words.add(new BigInteger(1, Arrays.copyOfRange(digest, from, from + 8)).mod(WORDS));
        }
      }
      return words.remove();
    }
  }
}
