package dev.lockstep.server.lifecycle;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * The version of this build; from a resource, because tests run from classes without a manifest.
 */
public final class Version {
  public static final String CURRENT = read();

  private Version() {}

  private static String read() {
    try (InputStream in =
        Version.class.getResourceAsStream("/dev/lockstep/server/version.properties")) {
      if (in == null) {
        throw new IllegalStateException("version.properties is not in the build");
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version", "unknown");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
