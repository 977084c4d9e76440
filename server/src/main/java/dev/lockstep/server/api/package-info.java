/**
 * What all of the HTTP API has in common: a table of {@link dev.lockstep.server.api.Endpoint}s,
 * each with its roles, the shape of its body and of its answers, and a handler. The router and the
 * OpenAPI document are both made from that table, so neither can say what the other does not.
 *
 * <p>Guarantees: no handler runs before key, role, rate limit and body were checked; every error is
 * an RFC 9457 problem with the request's id; nothing that waits runs on an event loop; at a stop
 * what is in flight is finished and what comes new is refused. Owns no table.
 */
@NullMarked
package dev.lockstep.server.api;

import org.jspecify.annotations.NullMarked;
