/**
 * How often somebody may ask: token buckets, their configuration, and the header fields that tell
 * clients what is left.
 *
 * <p>Owns no table: each node counts for itself, in bounded memory.
 */
@NullMarked
package dev.lockstep.server.rate;

import org.jspecify.annotations.NullMarked;
