/**
 * What the whole HTTP API shares. A table of {@link dev.lockstep.server.api.Endpoint}s names for
 * each operation its roles, the shapes of its body and answers, and its handler. The router and the
 * OpenAPI document are both built from that table, so they cannot disagree.
 *
 * <p>Read {@link dev.lockstep.server.api.ApiRouter} first: it takes a request to its handler.
 * {@link dev.lockstep.server.api.Request} is what a handler gets, {@link
 * dev.lockstep.server.api.Answer} and {@link dev.lockstep.server.api.Problem} what it gives; {@code
 * KeyedAnswers} stores answers under their idempotency keys; {@code Workers} are the threads that
 * may block.
 *
 * <p>Owns no table; locks idempotency keys as {@code dev.lockstep.once} does. Guarantees: no
 * handler runs before key, role, rate limit and body are checked; every error is an RFC 9457
 * problem with the request's id; nothing blocks an event loop; on a stop, requests that have
 * arrived in full finish and all others are refused.
 */
@NullMarked
package dev.lockstep.server.api;

import org.jspecify.annotations.NullMarked;
