package dev.lockstep.server.edge;

/** Who may read the server's status and metrics without a key. */
public enum OpenTo {
  NOBODY,
  /** Programs on the same machine; see {@link Observers}. */
  LOOPBACK,
  EVERYBODY
}
