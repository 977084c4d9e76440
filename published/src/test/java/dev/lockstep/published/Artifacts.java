package dev.lockstep.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What a release publishes, as this build made it. */
final class Artifacts {
  /** The folders of the modules with a jar. */
  static final List<String> JARS =
      List.of(
          "core",
          "cron",
          "kafka",
          "spring",
          "spring-boot-starter",
          "postgres",
          "broker",
          "testkit");

  static final String BOM = "bom";

  static final String VERSION = System.getProperty("lockstep.version");

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private Artifacts() {}

  /** Lays them out as a repository that Maven reads, as `deploy` would. */
  static void deployTo(Path repository) throws IOException {
    put(pom(BOM), repository, BOM, "pom");
    for (String module : JARS) {
      put(pom(module), repository, module, "pom");
      put(jar(module), repository, module, "jar");
    }
  }

  /** The POM that is published: flat, without what only this build needs. */
  static Path pom(String module) {
    return existing(ROOT.resolve(module).resolve(".flattened-pom.xml"));
  }

  static Path jar(String module) {
    return existing(
        ROOT.resolve(module).resolve("target/lockstep-" + module + "-" + VERSION + ".jar"));
  }

  private static Path existing(Path file) {
    if (!Files.exists(file)) {
      throw new IllegalStateException(file + " is missing: run `mvn verify` on all modules first");
    }
    return file;
  }

  private static void put(Path file, Path repository, String module, String extension)
      throws IOException {
    String artifact = "lockstep-" + module;
    Path folder = repository.resolve("dev/lockstep").resolve(artifact).resolve(VERSION);
    Files.createDirectories(folder);
    Files.copy(file, folder.resolve(artifact + "-" + VERSION + "." + extension));
  }
}
