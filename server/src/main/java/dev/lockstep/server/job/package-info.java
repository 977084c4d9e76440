/**
 * Jobs in the server: this node's worker, the domains' handlers and recurring tasks, and their part
 * of the HTTP API.
 *
 * <p>Owns {@code queue_pause} and {@code job_action}. A domain declares its {@link
 * dev.lockstep.server.job.BackgroundJobs}; {@code Work} passes them all to {@link
 * dev.lockstep.server.job.JobRunner#start}. Queues that no domain serves are open to claims over
 * HTTP. The guarantees are those of {@code dev.lockstep.job}.
 */
@NullMarked
package dev.lockstep.server.job;

import org.jspecify.annotations.NullMarked;
