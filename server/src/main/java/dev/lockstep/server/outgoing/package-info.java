/**
 * HTTP posts to addresses that others chose, guarded against reaching into this machine or its
 * networks.
 *
 * <p>Start with {@link dev.lockstep.server.outgoing.OutgoingHttp}; {@code PublicAddress} decides
 * which addresses are public, {@code Resolver} looks a name up. Owns no table and locks nothing.
 * Guarantees: a name is resolved once, all its addresses must be public, and the connection goes to
 * a checked address, whatever the name resolves to later; no redirect is followed; every request
 * ends in bounded time and reads a bounded answer; a name whose servers do not answer holds up no
 * other.
 */
@NullMarked
package dev.lockstep.server.outgoing;

import org.jspecify.annotations.NullMarked;
