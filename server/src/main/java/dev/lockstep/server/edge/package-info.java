/**
 * The edge between the network and the API: limits connections and the time of each step on them,
 * refuses ambiguous requests, finds the client behind trusted proxies, and decides who may read
 * status and metrics.
 *
 * <p>Read {@link dev.lockstep.server.edge.Guard} first: it draws the steps of a connection. {@code
 * Connections} limits how many there are, {@code HeadReader} and {@code StrictDecoder} refuse what
 * is ambiguous, {@code Trust} and {@code Forwarding} find the client. docs/edge.md lists every
 * limit.
 *
 * <p>Owns no table and locks nothing. Nothing here waits for the database.
 */
@NullMarked
package dev.lockstep.server.edge;

import org.jspecify.annotations.NullMarked;
