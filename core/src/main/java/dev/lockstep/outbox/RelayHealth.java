package dev.lockstep.outbox;

import java.util.Optional;

/**
 * How a relay is. That a sink is down is no failure of the relay: see {@link Relay#sinks}.
 *
 * @param failure what went wrong when it last tried, if that failed; of {@link State#ENDED} why it
 *     ended by itself, if it did
 */
public record RelayHealth(State state, Optional<String> failure) {

  public boolean isHealthy() {
    return state == State.RELAYING;
  }

  /** What a relay does. */
  public enum State {
    /** It reads and delivers. */
    RELAYING,
    /** It tries, and cannot: the database does not answer, say. It goes on by itself. */
    FAILING,
    /** It was closed; or it ended by itself, and others have its partitions. */
    ENDED
  }
}
