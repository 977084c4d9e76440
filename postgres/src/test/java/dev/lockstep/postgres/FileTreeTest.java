package dev.lockstep.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreeTest {
  @Test
  void filesAndFoldersThatSomebodyElseDeletesMeanwhileAreNoFault(@TempDir Path temporary)
      throws IOException {
    Path folder = temporary.resolve("folder");
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 50; i++) {
        Files.createFile(Files.createDirectories(folder.resolve("inner" + i)).resolve("file"));
      }
      List<CompletableFuture<Void>> both =
          List.of(
              CompletableFuture.runAsync(() -> delete(folder)),
              CompletableFuture.runAsync(() -> delete(folder)));
      both.forEach(CompletableFuture::join);
      assertThat(folder).doesNotExist();
    }
  }

  private static void delete(Path folder) {
    try {
      FileTree.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
