package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressBarTest {
  private final StringWriter terminal = new StringWriter();
  private final ProgressBar bar = new ProgressBar(new PrintWriter(terminal), 80);

  @Test
  void itIsDrawnAgainOnlyWhenItHasGrown() {
    for (int done = 1; done <= 4; done++) {
      bar.advance(done);
    }
    assertThat(terminal.toString().split("\r", -1))
        .containsExactly(
            "",
            "\033[K[" + ".".repeat(40) + "] 1 of 80",
            "\033[K[#" + ".".repeat(39) + "] 2 of 80",
            "\033[K[##" + ".".repeat(38) + "] 4 of 80");
  }

  @Test
  void itCanSayWhatIsNextAndGoAway() {
    bar.draw(80, "the last");
    bar.erase();
    assertThat(terminal).hasToString("\r\033[K[" + "#".repeat(40) + "] the last\r\033[K");
  }
}
