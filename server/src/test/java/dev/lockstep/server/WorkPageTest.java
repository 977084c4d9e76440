package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The commands of docs/work-over-http.md do what the page says, typed one after the other. */
@Timeout(120)
class WorkPageTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final Pattern BLOCK = Pattern.compile("```sh\\n(.*?)```", Pattern.DOTALL);

  @Test
  void theCommandsOfThePageWork(@TempDir Path folder) throws Exception {
    String page = Files.readString(Repository.root().resolve("docs/work-over-http.md"));
    String script =
        BLOCK
            .matcher(page)
            .results()
            .map((MatchResult block) -> block.group(1))
            .collect(Collectors.joining("\n", "set -eu\n", "\n"));
    Path file = Files.writeString(folder.resolve("page.sh"), script);
    Path output = folder.resolve("output");
    ProcessBuilder bash =
        new ProcessBuilder("bash", file.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    bash.environment().put("URL", server.url());
    bash.environment().put("KEY", RunningServer.OPERATOR_KEY);
    Process process = bash.start();
    boolean ended = process.waitFor(90, TimeUnit.SECONDS);
    process.destroyForcibly();
    String printed = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(ended).as(printed).isTrue();
    assertThat(process.exitValue()).as(printed).isZero();
    assertThat(printed)
        .contains(
            "\"state\":\"done\"", "\"seq\":1", "\"state\":\"scheduled\"", "\"state\":\"dead\"");
    List<String> left =
        server
            .database()
            .query(
                "SELECT queue || ' ' || kind FROM lockstep.job WHERE queue <> 'upkeep' ORDER BY 1",
                row -> row.getString(1));
    assertThat(left).containsExactly("letters print", "parcels pack");
  }
}
