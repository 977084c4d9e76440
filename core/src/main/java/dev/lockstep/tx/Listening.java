package dev.lockstep.tx;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners, whose failures must not become those of what they listen to. */
public final class Listening {
  private static final Logger log = LoggerFactory.getLogger(Listening.class);

  private Listening() {}

  /** Calls a listener. Whatever it throws is logged and changes nothing. */
  public static void tell(Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      log.warn("A listener failed", e);
    }
  }
}
