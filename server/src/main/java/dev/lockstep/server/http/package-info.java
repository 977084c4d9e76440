/**
 * The HTTP face. {@link dev.lockstep.server.http.HttpApi} is where to start: it listens from the
 * first moment on, on several event loops. Probes, metrics and the status page answer even while
 * there is no database; the API answers between start and stop.
 *
 * <p>A request passes {@code dev.lockstep.server.edge} (limits, hosts, senders), then the router:
 * {@code Probes} for machines, {@code dev.lockstep.server.page} for people, {@code
 * dev.lockstep.server.api} for the API. {@code Headers} are on every answer; {@code ErrorAnswers}
 * answers what no route does. Owns no table and locks nothing; nothing here waits for the database.
 */
@NullMarked
package dev.lockstep.server.http;

import org.jspecify.annotations.NullMarked;
