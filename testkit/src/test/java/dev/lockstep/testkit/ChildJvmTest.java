package dev.lockstep.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(120)
class ChildJvmTest {

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  /** Repeats its arguments, then its input; "quit" ends it. */
  static final class Parrot {
    public static void main(String[] args) throws Exception {
      System.out.println("args " + String.join(" ", args));
      BufferedReader input =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        System.out.println("said " + line);
        if (line.equals("quit")) {
          System.exit(3);
        }
      }
    }
  }

  /** Leaves a transaction open until it is told to commit. */
  static final class Writer {
    public static void main(String[] args) throws Exception {
      try (Connection connection = DriverManager.getConnection(args[0], args[1], args[2])) {
        connection.setAutoCommit(false);
        connection.createStatement().execute("INSERT INTO lockstep.probe VALUES (1)");
        System.out.println("written");
        System.in.read();
        connection.commit();
      }
    }
  }

  static final class Failing {
    public static void main(String[] args) {
      if (args.length == 0) {
        throw new IllegalStateException("on purpose");
      }
    }
  }

  @Test
  void linesAreAwaitedInOrderAndTheExitCodeIsKept() throws Exception {
    try (ChildJvm child = ChildJvm.start(Parrot.class, "one", "two words")) {
      child.awaitLine("args one two words");
      child.send("first");
      child.send("second");
      assertThat(child.awaitLine(line -> line.startsWith("said s"))).isEqualTo("said second");
      child.send("quit");
      assertThat(child.awaitExit()).isEqualTo(3);
      assertThat(child.lines()).contains("said first", "said quit");
      assertThatThrownBy(() -> child.awaitLine("said first"))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("Parrot ended without the awaited line");
    }
  }

  @Test
  void aKilledProcessCommitsNothing() throws Exception {
    try (ChildJvm child =
        ChildJvm.start(Writer.class, database.url(), database.user(), database.password())) {
      child.awaitLine("written");
      child.kill();
      assertThat(child.isAlive()).isFalse();
      assertThat(child.awaitExit()).isEqualTo(128 + 9);
    }
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.probe")).isZero();
  }

  @Test
  void aPausedProcessAnswersOnlyAfterItGoesOn() throws Exception {
    try (ChildJvm child = ChildJvm.start(Parrot.class)) {
      child.awaitLine(line -> line.startsWith("args"));
      child.pause();
      child.send("hello");
      assertThat(child.isAlive()).isTrue();
      assertThat(child.lines()).doesNotContain("said hello");
      child.resume();
      child.awaitLine("said hello");
    }
  }

  @Test
  void aPausedProcessCanBeKilled() throws Exception {
    ChildJvm child = ChildJvm.start(Parrot.class);
    child.awaitLine(line -> line.startsWith("args"));
    child.pause();
    child.close();
    assertThat(child.isAlive()).isFalse();
  }

  @Test
  void whatItThrowsCanBeRead() throws Exception {
    try (ChildJvm child = ChildJvm.start(Failing.class)) {
      child.awaitLine(line -> line.contains("IllegalStateException: on purpose"));
      assertThat(child.awaitExit()).isEqualTo(1);
    }
  }

  /** Ends for no reason of its own, not even the end of its input. */
  static final class Waiting {
    public static void main(String[] args) throws Exception {
      System.out.println("waiting");
      new CountDownLatch(1).await();
    }
  }

  /** Starts a child of its own and waits. */
  static final class Parent {
    public static void main(String[] args) throws Exception {
      ChildJvm child = ChildJvm.start(Waiting.class);
      child.awaitLine("waiting");
      System.out.println("child " + child.pid());
      child.awaitExit();
    }
  }

  @Test
  void aChildDoesNotOutliveItsParent() throws Exception {
    try (ChildJvm parent = ChildJvm.start(Parent.class)) {
      long pid =
          Long.parseLong(
              parent.awaitLine(line -> line.startsWith("child ")).substring("child ".length()));
      ProcessHandle child = ProcessHandle.of(pid).orElseThrow();
      parent.kill();
      child.onExit().join();
    }
  }
}
