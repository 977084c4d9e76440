package dev.lockstep.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.FailureReport;
import dev.lockstep.architecture.fixture.hold.Entry;
import dev.lockstep.architecture.fixture.hold.Fault;
import dev.lockstep.combine.CacheTrust;
import dev.lockstep.combine.Combiner;
import dev.lockstep.combine.CommandDoor;
import dev.lockstep.combine.Rounds;
import dev.lockstep.combine.Slices;
import dev.lockstep.combine.Sweeper;
import dev.lockstep.combine.Timely;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.hold.HoldRecords;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.StockCheck;
import dev.lockstep.hold.Veto;
import dev.lockstep.job.Jobs;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerRecords;
import dev.lockstep.migration.Migrations;
import dev.lockstep.once.Once;
import dev.lockstep.outbox.Inbox;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.shard.Shards;
import dev.lockstep.sql.BoundedRows;
import dev.lockstep.sql.DerivedId;
import dev.lockstep.sql.GuardFailed;
import dev.lockstep.sql.HandedOut;
import dev.lockstep.sql.HintListener;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.sql.Listening;
import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.PgDriver;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.Sha256;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StorableText;
import dev.lockstep.tx.AdvisoryLocks;
import dev.lockstep.tx.Transactor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The shape of core: blocks that do not know each other, nothing on the class path but JDBC and
 * slf4j, and no public type that nobody can reach. Each rule is also shown to fail, on fixtures.
 */
class LayeringTest {
  /** Where a user begins. Everything else that is public must follow from these. */
  private static final Set<Class<?>> ENTRY_TYPES =
      Set.of(
          Transactor.class,
          AdvisoryLocks.class,
          Migrations.class,
          // How a block sends several statements at once, and arrays in them.
          RoundTrip.class,
          SqlArray.class,
          // What a name must be to be stored as it is.
          StorableText.class,
          // How a block makes an id of a name, in a space of its own.
          DerivedId.class,
          Sha256.class,
          // How a block keeps a page from filling the memory.
          BoundedRows.class,
          Listening.class,
          IndexLookups.class,
          // COPY and notifications, which JDBC has no words for.
          PgDriver.class,
          HintListener.class,
          // What a connection is checked for before it is used.
          HandedOut.class,
          // How a block says that another transaction was faster.
          GuardFailed.class,
          CommandDoor.class,
          Combiner.class,
          // Whether an operation may go by what its last batch left, and be in time then.
          CacheTrust.class,
          Timely.class,
          Rounds.class,
          Sweeper.class,
          // How a block reads a large table without holding others up.
          Slices.class,
          LockOrder.class,
          HoldRecords.class,
          Holds.class,
          // A companion that can also refuse; holds are asked with it as with any other.
          Veto.class,
          Once.class,
          StockCheck.class,
          Shards.class,
          Jobs.class,
          Outbox.class,
          // A consumer has an inbox without having an outbox.
          Inbox.class,
          Ledger.class,
          LedgerRecords.class);

  private static final String CORE = "dev.lockstep";
  private static final String FIXTURE = "dev.lockstep.architecture.fixture";

  private static final JavaClasses core =
      new ClassFileImporter()
          .importUrl(Transactor.class.getProtectionDomain().getCodeSource().getLocation());
  private static final JavaClasses fixture = new ClassFileImporter().importPackages(FIXTURE);

  @Test
  void aDomainImportsNoOtherDomain() {
    Rules.domainsAreStrangers(CORE).forEach(rule -> rule.check(core));
  }

  @Test
  void theRuleSeesADomainThatImportsAnother() {
    assertThat(violations(Rules.domainsAreStrangers(FIXTURE)))
        .isNotEmpty()
        .allMatch(v -> v.contains("hold.ImportsAnotherDomain") && v.contains("job.Worker"));
  }

  @Test
  void theEngineImportsNoDomainAndNoLayerAboveItself() {
    Rules.theEngineLooksDown(CORE).forEach(rule -> rule.check(core));
  }

  @Test
  void theRuleSeesAnEngineThatImportsADomain() {
    assertThat(violations(Rules.theEngineLooksDown(FIXTURE)))
        .isNotEmpty()
        .allMatch(v -> v.contains("tx.LooksUp") && v.contains("job.Worker"));
  }

  @Test
  void noPackagesNeedEachOtherInACircle() {
    Rules.packagesAreFreeOfCycles(CORE).check(core);
  }

  @Test
  void coreNeedsTheJdkAndSlf4jOnly() {
    Rules.onlyJdbcAndSlf4j(CORE).check(core);
  }

  @Test
  void theRuleSeesAForeignLibrary() {
    assertThat(violations(List.of(Rules.onlyJdbcAndSlf4j(FIXTURE))))
        .isNotEmpty()
        .allMatch(v -> v.contains("hold.UsesALibrary") && v.contains("org.assertj"));
  }

  @Test
  void theBuildBringsSlf4jOnly() throws Exception {
    assertThat(Pom.runtimeDependencies(Files.readAllBytes(Path.of("pom.xml"))))
        .containsExactly("org.slf4j:slf4j-api");
  }

  @Test
  void theRuleSeesADependencyThatCameAlong() throws Exception {
    String pom =
        """
        <project>
          <dependencies>
            <dependency><groupId>g</groupId><artifactId>compile</artifactId></dependency>
            <dependency><groupId>g</groupId><artifactId>run</artifactId><scope>runtime</scope></dependency>
            <dependency><groupId>g</groupId><artifactId>none</artifactId><scope>test</scope></dependency>
            <dependency><groupId>g</groupId><artifactId>none</artifactId><scope>provided</scope></dependency>
          </dependencies>
        </project>
        """;

    assertThat(Pom.runtimeDependencies(pom.getBytes(StandardCharsets.UTF_8)))
        .containsExactly("g:compile", "g:run");
  }

  @Test
  void aPublicTypeIsAnEntryTypeAnExceptionOrInAPublicSignature() {
    Rules.publicTypesAreReachable(ENTRY_TYPES, LockstepException.class, core).check(core);
  }

  @Test
  void theRuleSeesAPublicTypeThatNobodyCanReach() {
    ArchRule rule = Rules.publicTypesAreReachable(Set.of(Entry.class), Fault.class, fixture);

    // Reached and therefore silent: parameters, results, generics, components, subclasses.
    assertThat(violations(List.of(rule)))
        .extracting(v -> v.replaceAll(" is public.*", "").replace(FIXTURE + ".", ""))
        .containsExactlyInAnyOrder(
            "hold.ImportsAnotherDomain", "hold.UsesALibrary", "job.Worker", "tx.LooksUp");
  }

  @Test
  void noFileIsLongerThanFourHundredLines() throws Exception {
    try (Stream<Path> files = Files.walk(Path.of("src"))) {
      assertThat(files.filter(file -> file.toString().endsWith(".java")))
          .isNotEmpty()
          .allSatisfy(file -> assertThat(Files.readAllLines(file)).hasSizeLessThanOrEqualTo(400));
    }
  }

  private static List<String> violations(List<ArchRule> rules) {
    return rules.stream()
        .map(rule -> rule.evaluate(fixture).getFailureReport())
        .map(FailureReport::getDetails)
        .flatMap(List::stream)
        .toList();
  }
}
