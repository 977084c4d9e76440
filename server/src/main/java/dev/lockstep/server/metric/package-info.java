/**
 * Counters and timers of the server, for Prometheus.
 *
 * <p>Start with {@link dev.lockstep.server.metric.Metrics}; each {@code …Figures} listens to one
 * block or part. Owns no table, locks nothing and asks the database nothing. docs/operations.md
 * lists every name, and a test compares the dashboard and alerts in {@code ops/} with a running
 * server.
 */
@NullMarked
package dev.lockstep.server.metric;

import org.jspecify.annotations.NullMarked;
