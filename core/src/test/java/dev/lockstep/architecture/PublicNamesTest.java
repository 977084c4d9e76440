package dev.lockstep.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What a user imports from the blocks of commands has a name that no other public type has. */
class PublicNamesTest {
  private static final List<String> BLOCKS =
      List.of("dev.lockstep.combine", "dev.lockstep.hold", "dev.lockstep.ledger");

  @Test
  void noPublicTypeOfTheBlocksSharesItsName() {
    Map<String, List<JavaClass>> byName = new TreeMap<>();
    for (JavaClass type :
        new ClassFileImporter()
            .importUrl(Transactor.class.getProtectionDomain().getCodeSource().getLocation())) {
      if (isPublic(type)) {
        byName.computeIfAbsent(type.getSimpleName(), name -> new ArrayList<>()).add(type);
      }
    }
    assertThat(byName).containsKeys("Holds", "TransferDone", "CommandDoor");
    assertThat(byName.values())
        .filteredOn(types -> types.stream().anyMatch(t -> BLOCKS.contains(t.getPackageName())))
        .allSatisfy(types -> assertThat(types).hasSize(1));
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && !type.getSimpleName().isEmpty()
        && type.getEnclosingClass().map(PublicNamesTest::isPublic).orElse(true);
  }
}
