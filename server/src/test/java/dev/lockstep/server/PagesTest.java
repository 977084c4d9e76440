package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How pages and what they are made of travel. */
@Timeout(120)
class PagesTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final Pattern ASSET =
      Pattern.compile("(?:src|href)=\"(/web/[0-9a-f]{16}/([a-z/-]+\\.(?:js|css)))\"");

  @ParameterizedTest
  @ValueSource(strings = {"/", "/shop/1", "/shop/1/draw", "/console", "/docs", "/status"})
  void aPageHoldsNothingInlineAndItsPolicyForbidsIt(String path) throws Exception {
    Client.Reply page = server.anyone().get(path);
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Type")).hasValue("text/html; charset=utf-8");
    assertThat(page.header("Content-Security-Policy"))
        .hasValueSatisfying(
            policy ->
                assertThat(policy)
                    .contains("default-src 'none'", "script-src 'self'", "trusted-types 'none'")
                    .doesNotContain("unsafe", "*", "http"));
    assertThat(page.response().body())
        .doesNotContainPattern("(?i)\\sstyle=|\\son[a-z]+=|<style|javascript:")
        .doesNotContainPattern("<script(?! type=\"module\" src=\"/web/)")
        .contains("<html lang=\"en\">", "id=\"main\"", "class=\"skip\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/shop/1", "/shop/1/draw", "/console"})
  void whatAPageIsMadeOfMayBeKeptForEver(String path) throws Exception {
    Matcher asset = ASSET.matcher(server.anyone().get(path).response().body());
    int found = 0;
    while (asset.find()) {
      Client.Reply reply = server.anyone().get(asset.group(1));
      assertThat(reply.status()).as(asset.group(1)).isEqualTo(200);
      assertThat(reply.header("Cache-Control")).hasValue("public, max-age=31536000, immutable");
      assertThat(reply.header("Content-Type"))
          .hasValue(
              (asset.group(2).endsWith(".css") ? "text/css" : "text/javascript")
                  + "; charset=utf-8");
      found++;
    }
    assertThat(found).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/console", "/icon.svg"})
  void whatHasNotChangedIsNotSentAgain(String path) throws Exception {
    Client.Reply first = server.anyone().get(path);
    assertThat(first.header("Cache-Control")).hasValue("no-cache");
    String tag = first.header("ETag").orElseThrow();
    for (String known : new String[] {tag, "W/" + tag, "\"other\", " + tag}) {
      Client.Reply again = server.anyone().send("GET", path, null, Map.of("If-None-Match", known));
      assertThat(again.status()).as(known).isEqualTo(304);
      assertThat(again.response().body()).isEmpty();
    }
    assertThat(server.anyone().send("GET", path, null, Map.of("If-None-Match", "\"x\"")).status())
        .isEqualTo(200);
  }

  @Test
  void anAddressOfAnotherReleaseIsNotThere() throws Exception {
    server.anyone().get("/web/0000000000000000/shop/shop.js").expectProblem(404, "not-found");
    server.anyone().get("/shop/none").expectProblem(404, "not-found");
    assertThat(server.anyone().send("HEAD", "/", null, Map.of()).status()).isEqualTo(200);
  }
}
