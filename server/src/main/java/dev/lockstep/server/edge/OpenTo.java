package dev.lockstep.server.edge;

/** Who sees without a key what a server says about itself. */
public enum OpenTo {
  NOBODY,
  /** Programs on the same machine; see {@link Observers}. */
  LOOPBACK,
  EVERYBODY
}
