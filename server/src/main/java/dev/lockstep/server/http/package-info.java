/**
 * The HTTP server. Start with {@link dev.lockstep.server.http.HttpApi}: it listens on several event
 * loops from the first moment. Probes, metrics and the status page answer even while there is no
 * database.
 *
 * <p>A request passes {@code dev.lockstep.server.edge} (limits, hosts, senders), then the router:
 * {@code Probes} for machines, {@code dev.lockstep.server.page} for people, {@code
 * dev.lockstep.server.api} for the API. {@code Headers} are on every answer; {@code ErrorAnswers}
 * answers what no route does. Owns no table and locks nothing; nothing here waits for the database.
 */
@NullMarked
package dev.lockstep.server.http;

import org.jspecify.annotations.NullMarked;
