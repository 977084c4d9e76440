/**
 * Jobs in the server: the worker of this node, what the domains have done by it, schedules, and
 * their part of the HTTP API.
 *
 * <p>Tables owned: {@code queue_pause}, {@code job_action}. A domain hands its {@link
 * dev.lockstep.server.job.BackgroundJobs} to the composer, which gives them all to {@link
 * dev.lockstep.server.job.JobRunner#start}. Queues that no domain serves are worked on over HTTP,
 * by claims. Guarantees are those of {@code dev.lockstep.job}.
 */
@NullMarked
package dev.lockstep.server.job;

import org.jspecify.annotations.NullMarked;
