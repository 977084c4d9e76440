/**
 * Requests to addresses that somebody else chose: posted over HTTP, guarded against being sent
 * where only this machine or its network may reach.
 *
 * <p>Owns no table. Promises: a name is resolved once, every address it has must be public, and the
 * connection goes to an address that was checked, whatever the name means a moment later; no
 * redirect is followed; every request ends in bounded time and reads a bounded answer; a name whose
 * servers do not answer holds up no other.
 */
@NullMarked
package dev.lockstep.server.outgoing;

import org.jspecify.annotations.NullMarked;
