package dev.lockstep.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinariesTest {

  private Path directory;

  @BeforeEach
  void setUp(@TempDir Path temporary) {
    directory = temporary;
  }

  @Test
  void twoThatUnpackAtOnceEndUpWithOneWholeCopy() throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    ExecutorService pool = Executors.newFixedThreadPool(2, task -> new Thread(task, "unpack"));
    try {
      List<Future<Binaries>> both =
          List.of(pool.submit(() -> unpack(together)), pool.submit(() -> unpack(together)));
      String program = both.get(0).get().program("initdb");
      assertThat(both.get(1).get().program("initdb")).isEqualTo(program);
      assertThat(Path.of(program)).isExecutable();
    } finally {
      pool.shutdown();
    }
    assertThat(directory.toFile().list()).hasSize(1);
  }

  private Binaries unpack(CyclicBarrier together) throws Exception {
    together.await();
    return Binaries.unpackedIn(directory);
  }

  @Test
  void aSecondUseUnpacksNothingAndTheRemainsOfAKilledOneAreRemoved() throws Exception {
    Process killed = new ProcessBuilder("sh", "-c", "exit").start();
    killed.waitFor();
    Path remains = Files.createDirectories(directory.resolve("unpack-" + killed.pid() + "-1/bin"));

    Path program = Path.of(Binaries.unpackedIn(directory).program("postgres"));
    assertThat(remains.getParent()).doesNotExist();

    FileTime mark = FileTime.fromMillis(1_000);
    Files.setLastModifiedTime(program, mark);
    Binaries.unpackedIn(directory);
    assertThat(Files.getLastModifiedTime(program)).isEqualTo(mark);
  }
}
