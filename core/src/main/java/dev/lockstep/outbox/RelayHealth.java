package dev.lockstep.outbox;

import java.util.Optional;

/**
 * A relay's health. A sink that is down is not a failure of the relay: see {@link Relay#sinks}.
 *
 * @param failure what went wrong at the last try, if it failed; for {@link State#ENDED}, why it
 *     ended unasked
 */
public record RelayHealth(State state, Optional<String> failure) {

  public boolean isHealthy() {
    return state == State.RELAYING;
  }

  /** The state of a relay. */
  public enum State {
    /** It reads and delivers. */
    RELAYING,
    /**
     * It retries without success, because the database does not answer for example. It recovers
     * unaided.
     */
    FAILING,
    /** It was closed, or it died and gave up its partitions. */
    ENDED
  }
}
