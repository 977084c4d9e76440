package dev.lockstep.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The layering rules, over any root package: ours, and the fixtures that show each rule failing.
 */
final class Rules {
  /** Blocks: each owns its tables, and knows no other. */
  static final List<String> DOMAINS = List.of("once", "hold", "job", "outbox", "ledger");

  /** What the blocks share, in layers: each may use those before it. */
  static final List<String> ENGINE =
      List.of("fault", "work", "sql", "tx", "migration", "combine", "shard");

  private Rules() {}

  /** A domain imports no other domain. */
  static List<ArchRule> domainsAreStrangers(String root) {
    List<ArchRule> rules = new ArrayList<>();
    for (String domain : DOMAINS) {
      String[] others =
          DOMAINS.stream().filter(d -> !d.equals(domain)).map(inside(root)).toArray(String[]::new);
      rules.add(
          noClasses()
              .that()
              .resideInAPackage(root + "." + domain + "..")
              .should()
              .dependOnClassesThat()
              .resideInAnyPackage(others)
              // A block that does not exist yet breaks no rule.
              .allowEmptyShould(true)
              .as(domain + " imports no other domain"));
    }
    return rules;
  }

  /** The engine imports no domain, and no layer of it one that comes later. */
  static List<ArchRule> theEngineLooksDown(String root) {
    List<ArchRule> rules = new ArrayList<>();
    for (int i = 0; i < ENGINE.size(); i++) {
      List<String> above = new ArrayList<>(ENGINE.subList(i + 1, ENGINE.size()));
      above.addAll(DOMAINS);
      rules.add(
          noClasses()
              .that()
              .resideInAPackage(root + "." + ENGINE.get(i) + "..")
              .should()
              .dependOnClassesThat()
              .resideInAnyPackage(above.stream().map(inside(root)).toArray(String[]::new))
              .allowEmptyShould(true)
              .as(ENGINE.get(i) + " imports nothing above it"));
    }
    return rules;
  }

  /** At run time there is the JDK, slf4j and nothing else. */
  static ArchRule onlyJdbcAndSlf4j(String root) {
    return classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            // Annotations are not there at run time.
            "java..", "javax.sql..", "org.slf4j..", "org.jspecify.annotations..", root + "..")
        .as("core needs the JDK and slf4j only");
  }

  /**
   * A public type is an entry type, an exception, or part of a public signature of those.
   *
   * @param exceptionRoot every exception below it is public by itself
   */
  static ArchRule publicTypesAreReachable(
      Set<Class<?>> entryTypes, Class<?> exceptionRoot, Iterable<JavaClass> all) {
    Set<Class<?>> roots = new HashSet<>(entryTypes);
    for (JavaClass type : all) {
      if (type.isAssignableTo(exceptionRoot)) {
        roots.add(type.reflect());
      }
    }
    Set<Class<?>> reachable = PublicSurface.reachableFrom(roots);
    return classes()
        .that()
        .areTopLevelClasses()
        .and()
        .haveModifier(JavaModifier.PUBLIC)
        .should(
            new ArchCondition<>("be reachable from an entry type") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                boolean found = reachable.contains(type.reflect());
                events.add(
                    new SimpleConditionEvent(
                        type,
                        found,
                        type.getName()
                            + (found
                                ? " is part of the public surface"
                                : " is public, but neither an entry type nor in a public signature")));
              }
            })
        .as("public types are entry types or in public signatures");
  }

  /** The packages of core do not need each other in a circle. */
  static ArchRule packagesAreFreeOfCycles(String root) {
    return slices().matching(root + ".(*)..").should().beFreeOfCycles();
  }

  /**
   * The public methods, constructors and fields of exported packages that mention a type of ours
   * that is not exported.
   *
   * @param ours the prefix of our packages, left out of the result
   */
  static Set<String> hiddenTypesInSignatures(JavaClasses all, Set<String> exported, String ours) {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : all) {
      if (isPublic(type) && exported.contains(type.getPackageName())) {
        for (JavaMember member : type.getMembers()) {
          if (isVisible(member) && mentions(member).anyMatch(t -> isHidden(t, exported, ours))) {
            found.add(type.getName().substring(ours.length()) + "." + member.getName());
          }
        }
      }
    }
    return found;
  }

  /** The simple names that several public types of exported packages have. */
  static Set<String> namesOfSeveralTypes(JavaClasses all, Set<String> exported) {
    Map<String, Long> types =
        all.stream()
            .filter(type -> isPublic(type) && exported.contains(type.getPackageName()))
            .collect(Collectors.groupingBy(JavaClass::getSimpleName, Collectors.counting()));
    types.values().removeIf(count -> count == 1);
    return new TreeSet<>(types.keySet());
  }

  private static Stream<JavaClass> mentions(JavaMember member) {
    Stream<JavaType> types =
        member instanceof JavaCodeUnit code
            ? Stream.concat(Stream.of(code.getReturnType()), code.getParameterTypes().stream())
            : Stream.of(((JavaField) member).getType());
    return types.flatMap(type -> type.getAllInvolvedRawTypes().stream());
  }

  private static boolean isHidden(JavaClass type, Set<String> exported, String ours) {
    return type.getName().startsWith(ours) && !exported.contains(type.getPackageName());
  }

  private static boolean isVisible(JavaMember member) {
    return !member.getModifiers().contains(JavaModifier.SYNTHETIC)
        && (member.getModifiers().contains(JavaModifier.PUBLIC)
            || member.getModifiers().contains(JavaModifier.PROTECTED));
  }

  /** Whether others may name the type: it is public, and so is every type around it. */
  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(Rules::isPublic).orElse(true);
  }

  private static Function<String, String> inside(String root) {
    return name -> root + "." + name + "..";
  }
}
