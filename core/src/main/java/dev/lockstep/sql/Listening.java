package dev.lockstep.sql;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls listeners and keeps their failures away from the caller. */
public final class Listening {
  private static final Logger log = LoggerFactory.getLogger(Listening.class);

  private Listening() {}

  /** Calls a listener. An exception it throws is logged and changes nothing. */
  public static void tell(Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      log.warn("Listener failed; the operation it listens to is unaffected", e);
    }
  }
}
