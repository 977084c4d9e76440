/**
 * Schedules over HTTP: what is delivered to whom, and when, in which zone.
 *
 * <p>Owns no table: schedules are those of {@code dev.lockstep.job}, whose spec is the API's {@code
 * when} and whose job is a delivery. Each occurrence is delivered under one id; an edit names the
 * version that it was made for.
 */
@NullMarked
package dev.lockstep.server.schedule;

import org.jspecify.annotations.NullMarked;
