package dev.lockstep.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TestServerTest {

  /** A test run: uses the shared server, then ends when it is told to or killed. */
  static final class Run {
    public static void main(String[] args) throws Exception {
      System.out.println("data " + TestServer.shared().server().dataDirectory());
      System.in.read();
    }
  }

  @Test
  void theServerAndItsFolderEndWithTheRun() throws Exception {
    try (ChildJvm run = ChildJvm.start(Run.class)) {
      Path data = awaitData(run);
      assertThat(data).exists();
      run.send("end");
      assertThat(run.awaitExit()).isZero();
      assertThat(data.getParent()).doesNotExist();
    }
  }

  @Test
  void whatAKilledRunLeftIsClearedAwayByTheNext() throws Exception {
    Path data;
    ProcessHandle server;
    try (ChildJvm killed = ChildJvm.start(Run.class)) {
      data = awaitData(killed);
      server = process(data);
      killed.kill();
    }
    assertThat(data).exists();
    try (ChildJvm next = ChildJvm.start(Run.class)) {
      awaitData(next);
      assertThat(data.getParent()).doesNotExist();
      server.onExit().orTimeout(60, TimeUnit.SECONDS).join();
      next.send("end");
      next.awaitExit();
    }
  }

  private static ProcessHandle process(Path data) throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
    return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
  }

  private static Path awaitData(ChildJvm run) throws InterruptedException {
    return Path.of(run.awaitLine(line -> line.startsWith("data ")).substring("data ".length()));
  }
}
