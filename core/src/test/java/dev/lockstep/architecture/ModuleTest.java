package dev.lockstep.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.lockstep.tx.Transactor;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.lang.module.ModuleFinder;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** What the module of core shows to the world, and what only Lockstep's own modules see. */
class ModuleTest {
  private static final String MODULE = "dev.lockstep.core";
  private static final String INTERNAL = "dev.lockstep.sql";

  /**
   * Public, but for Lockstep's own blocks: their signatures mention types of {@link #INTERNAL}. A
   * user of the module cannot call them.
   */
  private static final Set<String> FOR_OWN_BLOCKS =
      Set.of(
          "tx.Transactor.exchange",
          "tx.Transactor.beforeCommit",
          // What a block tells the combiner to run, and what serves it.
          "combine.Combined.answers",
          "combine.Combined.consult",
          "combine.Combined.lock",
          "combine.Combined.write",
          "combine.Combiner.apply",
          "combine.CommandDoor.joinAll",
          "combine.CommandOperation.answers",
          "combine.CommandOperation.write",
          "combine.CommandOperation.writePlan",
          "combine.Timely.require",
          "job.Claims.hints",
          // A record that travels with the statements of another block, and a lease that guards
          // them.
          "once.Once.addFind",
          "once.Once.addRecord",
          "shard.Lease.askIfHeld",
          "shard.Lease.bound");

  private static final JavaClasses core =
      new ClassFileImporter()
          .importUrl(Transactor.class.getProtectionDomain().getCodeSource().getLocation());

  @Test
  void everyPackageIsExportedExceptTheStatementPlumbing() throws Exception {
    Set<String> packages =
        core.stream().map(type -> type.getPackageName()).collect(Collectors.toSet());
    packages.remove(INTERNAL);
    // The module itself counts as a class of no package.
    packages.remove("");

    assertThat(exported()).isEqualTo(packages);
  }

  @Test
  void onlyOurOwnModulesSeeTheStatementPlumbing() throws Exception {
    List<Exports> qualified = descriptor().exports().stream().filter(Exports::isQualified).toList();

    assertThat(qualified).extracting(Exports::source).containsExactly(INTERNAL);
    assertThat(qualified.get(0).targets())
        .isNotEmpty()
        .allMatch(module -> module.startsWith("dev.lockstep."));
  }

  @Test
  void theModuleResolvesOnTheModulePathAndHidesTheStatementPlumbing() throws Exception {
    ModuleFinder finder = ModuleFinder.of(where(Transactor.class), where(Logger.class));
    Configuration configuration =
        ModuleLayer.boot().configuration().resolve(finder, ModuleFinder.of(), Set.of(MODULE));
    ModuleLayer layer =
        ModuleLayer.boot()
            .defineModulesWithOneLoader(configuration, ClassLoader.getPlatformClassLoader());
    Module module = layer.findModule(MODULE).orElseThrow();

    Class<?> entry = layer.findLoader(MODULE).loadClass(Transactor.class.getName());

    assertThat(entry.getModule()).isEqualTo(module);
    assertThat(module.isExported("dev.lockstep.tx")).isTrue();
    assertThat(module.isExported(INTERNAL)).isFalse();
  }

  @Test
  void anExportedSignatureMentionsExportedTypesOnly() throws Exception {
    assertThat(Rules.hiddenTypesInSignatures(core, exported(), "dev.lockstep."))
        .isSubsetOf(FOR_OWN_BLOCKS);
  }

  @Test
  void theRuleSeesATypeThatIsNotExported() throws Exception {
    Set<String> withoutFaults = exported();
    withoutFaults.remove("dev.lockstep.fault");

    assertThat(Rules.hiddenTypesInSignatures(core, withoutFaults, "dev.lockstep."))
        .contains("tx.TxAttempt.fault");
  }

  @Test
  void aPublicNameStandsForOneType() throws Exception {
    assertThat(Rules.namesOfSeveralTypes(core, exported())).isEmpty();
  }

  private static Set<String> exported() throws IOException, URISyntaxException {
    return descriptor().exports().stream()
        .filter(exports -> !exports.isQualified())
        .map(Exports::source)
        .collect(Collectors.toSet());
  }

  private static ModuleDescriptor descriptor() throws IOException, URISyntaxException {
    try (InputStream in =
        Files.newInputStream(where(Transactor.class).resolve("module-info.class"))) {
      return ModuleDescriptor.read(in);
    }
  }

  private static Path where(Class<?> type) throws URISyntaxException {
    URI location = type.getProtectionDomain().getCodeSource().getLocation().toURI();
    return Path.of(location);
  }
}
