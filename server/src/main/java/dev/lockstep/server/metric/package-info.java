/**
 * Counters and timers of the server, for Prometheus. Owns no table; asks the database nothing.
 * docs/operations.md lists every name, and a test compares the dashboard and alerts in {@code ops/}
 * with a running server.
 */
@NullMarked
package dev.lockstep.server.metric;

import org.jspecify.annotations.NullMarked;
