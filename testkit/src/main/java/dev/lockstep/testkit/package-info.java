/**
 * The tools of Lockstep's own tests, for tests of code that uses Lockstep.
 *
 * <p>Start with {@link dev.lockstep.testkit.TestDatabase}: a real PostgreSQL database per test
 * class. Then {@link dev.lockstep.testkit.Race} releases callers together, {@link
 * dev.lockstep.testkit.TcpProxy} is a network that misbehaves on request, {@link
 * dev.lockstep.testkit.CommitFault} loses a connection in the middle of a commit, and {@link
 * dev.lockstep.testkit.ChildJvm} is a second JVM to kill or pause. Owns no tables, locks no rows.
 *
 * <p>No tool waits for a fixed time: each fault is triggered by an event and reports when it has
 * happened. Every wait has a limit, after which the test fails and says what it was waiting for.
 */
@NullMarked
package dev.lockstep.testkit;

import org.jspecify.annotations.NullMarked;
