/**
 * Schedules over HTTP: what is delivered, to whom, when, and in which time zone.
 *
 * <p>Start with {@link dev.lockstep.server.schedule.Scheduling}; {@code When} reads the API's
 * times. Owns no table: schedules are those of {@code dev.lockstep.job}, with the API's {@code
 * when} as spec and a delivery as job; so are their states and locks. Each occurrence is delivered
 * under one id; an edit names the version it is based on.
 */
@NullMarked
package dev.lockstep.server.schedule;

import org.jspecify.annotations.NullMarked;
