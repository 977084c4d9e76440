/**
 * The edge between the network and the API: limits connections and the time of each step on them,
 * refuses ambiguous requests, finds the client behind trusted proxies, and decides who may read
 * status and metrics.
 *
 * <p>Owns no table. Nothing here waits for the database. Read {@link
 * dev.lockstep.server.edge.Guard} first.
 */
@NullMarked
package dev.lockstep.server.edge;

import org.jspecify.annotations.NullMarked;
