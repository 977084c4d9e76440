/**
 * How often callers may ask: token buckets, their configuration, and the header fields that report
 * what is left.
 *
 * <p>Start with {@link dev.lockstep.server.rate.TokenBuckets}. Owns no table and locks nothing:
 * each node counts for itself, in bounded memory.
 */
@NullMarked
package dev.lockstep.server.rate;

import org.jspecify.annotations.NullMarked;
