package dev.lockstep.server.edge;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps connections within the files that the process may open. Each connection uses one. When none
 * is left, the server cannot refuse a caller or reach the database.
 */
public final class OpenFiles {
  private static final Logger log = LoggerFactory.getLogger(OpenFiles.class);

  /** For the database, outgoing requests, libraries, and whatever else is open. */
  private static final int OTHERS = 400;

  private static final int BURST = 1_000;

  private OpenFiles() {}

  /** These limits, lowered if the process may not open that many files. */
  public static HttpLimits fitting(HttpLimits limits) {
    OptionalLong most = most();
    HttpLimits fitting = most.isPresent() ? fitting(limits, most.getAsLong()) : limits;
    if (!fitting.equals(limits)) {
      log.warn(
          "This process may open {} files, so it serves {} connections at a time, not {}; allow"
              + " more files (ulimit -n, LimitNOFILE) or lower http.connections",
          most.getAsLong(),
          fitting.connections(),
          limits.connections());
    }
    return fitting;
  }

  static HttpLimits fitting(HttpLimits limits, long most) {
    // Connections over the limit stay open while they are refused, and in a burst some are not
    // closed yet.
    long room = Math.max(3, most - OTHERS);
    long fit = Math.max(room - Connections.MAX_TURNED_AWAY - BURST, room / 3);
    if (fit >= limits.connections()) {
      return limits;
    }
    int total = (int) fit;
    // One address cannot take all, but a proxy that is not named as trusted is one address.
    int perAddress = Math.min(limits.connectionsPerAddress(), Math.max(1, total / 4));
    return limits.withConnections(total, perAddress);
  }

  private static OptionalLong most() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
            && unix.getMaxFileDescriptorCount() > 0
        ? OptionalLong.of(unix.getMaxFileDescriptorCount())
        : OptionalLong.empty();
  }
}
