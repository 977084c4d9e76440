package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.http.HttpApi;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The server uses the transport of its platform, if there is one for it. */
class NativeTransportTest {
  @Test
  void onLinuxItIsEpoll() {
    boolean linux = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux");

    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, EdgeConfig.DEFAULT)) {
      assertThat(api.vertx().isNativeTransportEnabled()).isEqualTo(linux);
    }
  }
}
