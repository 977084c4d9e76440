package dev.lockstep.server.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.net.PfxOptions;
import java.nio.file.Path;

/** Certificates for receivers in tests. */
final class TestCertificate {
  private TestCertificate() {}

  /** With the JDK's own tool: a certificate for a name, and the key to it. */
  static PfxOptions forName(Path folder, String host) throws Exception {
    Path file = folder.resolve("receiver.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "receiver",
                "-dname",
                "CN=" + host,
                "-ext",
                "SAN=dns:" + host,
                "-storetype",
                "PKCS12",
                "-storepass",
                "for-a-test",
                "-keystore",
                file.toString())
            .redirectErrorStream(true)
            .start();
    keytool.getInputStream().readAllBytes();
    assertThat(keytool.waitFor()).isZero();
    return new PfxOptions().setPath(file.toString()).setPassword("for-a-test");
  }
}
