/**
 * What the server counts and times, for Prometheus. Owns no table; asks the database nothing. Every
 * name is listed in docs/operations.md, and a test holds the dashboard and the alerts of {@code
 * ops/} against what a running server gives.
 */
@NullMarked
package dev.lockstep.server.metric;

import org.jspecify.annotations.NullMarked;
