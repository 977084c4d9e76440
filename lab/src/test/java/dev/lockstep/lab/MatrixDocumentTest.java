package dev.lockstep.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * {@code docs/isolation-matrix.md} says what this server does. With {@code
 * -Dlockstep.lab.write=true} this test writes the server's part of it instead.
 */
@Timeout(120)
class MatrixDocumentTest {
  @RegisterExtension static final LabServer server = new LabServer();

  private static final Path DOCUMENT = Path.of("..", "docs", "isolation-matrix.md");

  @Test
  void theDocumentSaysWhatThisServerDoes() throws Exception {
    Matrix matrix = server.matrix();
    String text = Files.readString(DOCUMENT);
    String head = "## PostgreSQL " + matrix.majorVersion() + "\n";
    assertThat(text).contains(head);
    int begin = text.indexOf(head) + head.length();
    int next = text.indexOf("\n## ", begin);
    int end = next < 0 ? text.length() : next;
    String section = section(matrix);
    if (Boolean.getBoolean("lockstep.lab.write")) {
      Files.writeString(DOCUMENT, text.substring(0, begin) + section + text.substring(end));
    } else {
      assertThat(text.substring(begin, end)).isEqualTo(section);
    }
  }

  /** As its first paragraph says. */
  @Test
  void allServersAgree() throws Exception {
    String[] parts = Files.readString(DOCUMENT).split("\n## PostgreSQL \\d+\n", -1);
    assertThat(parts).hasSize(6);
    assertThat(List.of(parts).subList(1, 6))
        .allSatisfy(part -> assertThat(part.strip()).isEqualTo(parts[1].strip()));
  }

  /** The build runs these tests on several servers, and says on which: it must be true. */
  @Test
  void theServerIsTheOneTheBuildNamed() {
    assertThat(server.matrix().majorVersion())
        .isEqualTo(System.getProperty("lockstep.test.postgres"));
  }

  private static String section(Matrix matrix) {
    return "\nAs one writes it at first:\n\n"
        + matrix.table(Variant.NAIVE)
        + "\nAs Lockstep does it:\n\n"
        + matrix.table(Variant.LOCKSTEP);
  }
}
