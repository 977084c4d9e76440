package dev.lockstep.postgres;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Creates private folders, makes renames durable and deletes folders with all their content. */
final class FileTree {

  private FileTree() {}

  /** Creates the folder and its parents; only the owner may enter the new ones. */
  static void createPrivate(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
  }

  /** The children whose names start with the prefix. */
  static List<Path> children(Path directory, String prefix) throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      return new ArrayList<>(
          list.filter(p -> p.getFileName().toString().startsWith(prefix)).toList());
    }
  }

  static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      return list.findAny().isEmpty();
    }
  }

  /** Makes a rename durable: the folder that lists the name must be flushed too. */
  static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Deletes the folder. Files that vanish meanwhile are fine; symbolic links are not followed. */
  static void delete(Path root) throws IOException {
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            return unlessVanished(e);
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              return unlessVanished(e);
            }
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }

          private static FileVisitResult unlessVanished(IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
  }
}
