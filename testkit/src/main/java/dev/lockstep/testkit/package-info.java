/**
 * What Lockstep's own tests are made of, for tests of code that uses it: a real PostgreSQL per test
 * class, callers released together, a network that misbehaves on request, a connection lost in the
 * middle of a commit, and second JVMs that can be killed.
 *
 * <p>Nothing here waits for an amount of time to pass: each fault is triggered by an event and says
 * when it has happened. Every wait has a limit, past which the test fails with what it was waiting
 * for.
 */
@NullMarked
package dev.lockstep.testkit;

import org.jspecify.annotations.NullMarked;
