package dev.lockstep.server.cases;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.InstanceofCheck;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.lockstep.job.EditResult;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * A kind that is added to a sealed type breaks the build wherever it is not handled: every table of
 * cases is loaded here, and a chain of {@code instanceof} that should be one is found.
 */
class EveryKindHasItsCaseTest {
  /** A method may ask for two kinds; what it does with a third needs a table. */
  private static final int MOST_KINDS = 2;

  private static final JavaClasses SERVER =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.lockstep.server", "dev.lockstep.gateway");

  @Test
  void everyTableIsComplete() throws Exception {
    List<JavaField> tables =
        SERVER.stream()
            .flatMap(type -> type.getFields().stream())
            .filter(field -> field.getRawType().isEquivalentTo(Cases.class))
            .toList();
    assertThat(tables).hasSizeGreaterThan(15);
    for (JavaField table : tables) {
      assertThat(table.getModifiers())
          .as(table.getFullName())
          .contains(JavaModifier.STATIC, JavaModifier.FINAL);
      // Fails when a table lacks a kind.
      Class.forName(table.getOwner().getName(), true, Cases.class.getClassLoader());
    }
  }

  @Test
  void noMethodTellsManyKindsApartWithoutATable() {
    assertThat(chains(SERVER)).isEmpty();
  }

  @Test
  void aChainWithoutATableIsFound() {
    assertThat(chains(new ClassFileImporter().importClasses(Naive.class)))
        .containsExactly(Naive.class.getName() + ".say");
  }

  static final class Naive {
    static String say(EditResult result) {
      if (result instanceof EditResult.Edited) {
        return "changed";
      }
      if (result instanceof EditResult.Stale) {
        return "stale";
      }
      return result instanceof EditResult.Gone ? "gone" : "anything else";
    }

    static boolean isThere(EditResult result) {
      return result instanceof EditResult.Edited || result instanceof EditResult.Stale;
    }
  }

  /** Methods that ask for more than {@link #MOST_KINDS} of one sealed type. */
  private static List<String> chains(JavaClasses classes) {
    List<String> found = new ArrayList<>();
    for (JavaCodeUnit method :
        classes.stream().flatMap(type -> type.getCodeUnits().stream()).toList()) {
      Map<String, Set<String>> kinds = new TreeMap<>();
      for (InstanceofCheck check : method.getInstanceofChecks()) {
        Class<?> kind = check.getRawType().reflect();
        for (Class<?> sealed : sealedAbove(kind)) {
          kinds.computeIfAbsent(sealed.getName(), name -> new HashSet<>()).add(kind.getName());
        }
      }
      if (kinds.values().stream().anyMatch(some -> some.size() > MOST_KINDS)) {
        found.add(method.getOwner().getName() + "." + method.getName());
      }
    }
    return found;
  }

  private static Set<Class<?>> sealedAbove(Class<?> type) {
    Set<Class<?>> above = new LinkedHashSet<>();
    for (Class<?> one : type.getInterfaces()) {
      if (one.isSealed() && one.getPackageName().startsWith("dev.lockstep")) {
        above.add(one);
      }
      above.addAll(sealedAbove(one));
    }
    return above;
  }
}
