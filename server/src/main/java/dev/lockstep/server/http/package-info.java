/**
 * The HTTP face. {@link dev.lockstep.server.http.HttpApi} listens from the first moment on, on
 * several event loops; probes, metrics and the status page answer before there is a database and
 * while the server stops, the API between.
 *
 * <p>A request passes {@code dev.lockstep.server.edge} (limits, hosts, senders), then the router:
 * {@code Probes} for machines, {@code dev.lockstep.server.page} for people, {@code
 * dev.lockstep.server.api} for the API. {@code Headers} are on every answer; {@code ErrorAnswers}
 * answers what no route does. Owns no table; nothing here waits for the database.
 */
@NullMarked
package dev.lockstep.server.http;

import org.jspecify.annotations.NullMarked;
