package dev.lockstep.lab;

import static dev.lockstep.tx.Isolation.READ_COMMITTED;
import static dev.lockstep.tx.Isolation.REPEATABLE_READ;
import static dev.lockstep.tx.Isolation.SERIALIZABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.lockstep.tx.Isolation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Every scenario at every level, in both variants. The catalogue says nothing about outcomes; what
 * is expected stands here, from PostgreSQL's documentation and from what our own documents claim.
 */
@Timeout(120)
class EveryScenarioTest {
  @RegisterExtension static final LabServer server = new LabServer();

  private static final Set<Isolation> ALL = Set.of(Isolation.values());
  private static final Set<Isolation> NEVER = Set.of();
  private static final Set<Isolation> ONLY_READ_COMMITTED = Set.of(READ_COMMITTED);
  private static final Set<Isolation> NOT_SERIALIZABLE = Set.of(READ_COMMITTED, REPEATABLE_READ);
  private static final Set<Isolation> WITH_A_LASTING_SNAPSHOT =
      Set.of(REPEATABLE_READ, SERIALIZABLE);

  /** At which levels the naive variant goes wrong. */
  private static final Map<String, Set<Isolation>> NAIVE =
      Map.ofEntries(
          Map.entry("g0", NEVER),
          Map.entry("g1a", NEVER),
          Map.entry("g1b", NEVER),
          Map.entry("g1c", NEVER),
          Map.entry("otv", NEVER),
          Map.entry("pmp", ONLY_READ_COMMITTED),
          Map.entry("pmp-write", ONLY_READ_COMMITTED),
          Map.entry("p4", ONLY_READ_COMMITTED),
          Map.entry("g-single", ONLY_READ_COMMITTED),
          Map.entry("g-single-predicate", ONLY_READ_COMMITTED),
          Map.entry("g-single-write", ONLY_READ_COMMITTED),
          Map.entry("g2-item", NOT_SERIALIZABLE),
          Map.entry("g2", NOT_SERIALIZABLE),
          Map.entry("read-only", NOT_SERIALIZABLE),
          Map.entry("last-unit", ONLY_READ_COMMITTED),
          Map.entry("limit-two-tabs", NOT_SERIALIZABLE),
          Map.entry("bundle-deadlock", ALL),
          Map.entry("sold-out-too-soon", ALL),
          Map.entry("claimed-twice", ONLY_READ_COMMITTED),
          Map.entry("stale-worker", ALL),
          Map.entry("skip-locked", ALL),
          Map.entry("leapfrog", ALL),
          Map.entry("double-send", ALL),
          Map.entry("lost-behind-cursor", ALL),
          Map.entry("nowait", ALL),
          Map.entry("deadlock-victim", ALL),
          Map.entry("advisory-lock", ALL),
          Map.entry("retry-inside", WITH_A_LASTING_SNAPSHOT),
          Map.entry("optimistic-version", ALL),
          Map.entry("mvcc", ONLY_READ_COMMITTED),
          Map.entry("dead-tuples", WITH_A_LASTING_SNAPSHOT));

  @TestFactory
  Stream<DynamicTest> aScenarioGoesAsItShould() {
    return server.matrix().rows().stream()
        .flatMap(
            row ->
                Stream.of(Isolation.values())
                    .map(
                        level ->
                            dynamicTest(
                                row.scenario() + " " + row.variant() + " " + level,
                                () -> check(row, level))));
  }

  private static void check(Matrix.Row row, Isolation level) {
    Verdict verdict = row.at(level);
    boolean expected =
        row.variant() == Variant.NAIVE
            && NAIVE.getOrDefault(row.scenario().id(), Set.of()).contains(level);
    assertThat(verdict.anomaly()).as(verdict.sentence()).isEqualTo(expected);
    assertThat(verdict.sentence()).isNotBlank().doesNotContain("-1");
  }

  @Test
  void everyScenarioIsNamedAndExplained() {
    assertThat(Lab.scenarios())
        .extracting(Scenario::id)
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(NAIVE.keySet());
    for (Scenario scenario : Lab.scenarios()) {
      assertThat(List.of(scenario.title(), scenario.question(), scenario.why(), scenario.cure()))
          .as(scenario.id())
          .allSatisfy(text -> assertThat(text).isNotBlank().doesNotContain("\n"));
      assertThat(scenario.question()).endsWith("?");
      assertThat(Lab.scenario(scenario.id())).contains(scenario);
    }
    assertThat(Lab.scenario("no-such-scenario")).isEmpty();
  }

  /** Groups follow each other and are not taken up again: they are headings of a page. */
  @Test
  void theCatalogueIsReadInTheOrderOfItsGroups() {
    assertThat(Lab.scenarios().stream().map(Scenario::group).toList())
        .isSortedAccordingTo(Group::compareTo);
  }
}
