package dev.lockstep.outbox;

import java.util.Optional;

/**
 * A relay's health. A sink that is down is not a failure of the relay: see {@link Relay#sinks}.
 *
 * @param failure what went wrong at the last try, if it failed; for {@link State#ENDED}, why it
 *     died
 */
public record RelayHealth(State state, Optional<String> failure) {

  public boolean isHealthy() {
    return state == State.RELAYING;
  }

  /** The state of a relay. */
  public enum State {
    /** It reads and delivers. */
    RELAYING,
    /** The last try failed, for example because the database does not answer. It keeps retrying. */
    FAILING,
    /** It was closed, or it died and gave up its partitions. */
    ENDED
  }
}
