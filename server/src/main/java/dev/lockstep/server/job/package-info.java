/**
 * Jobs in the server: this node's worker, the domains' handlers and recurring jobs, and their part
 * of the HTTP API.
 *
 * <p>Start with {@link dev.lockstep.server.job.JobRunner}. A domain declares its {@link
 * dev.lockstep.server.job.BackgroundJobs}; {@code Work} passes them all to the runner. Then read by
 * interest: {@code JobApi}, {@code QueueApi} and {@code JobActApi} for operators, {@code WorkApi}
 * and {@code ClaimDesk} for claims by long poll. Queues that no domain serves are open to claims.
 *
 * <p>Owns {@code queue_pause} and {@code job_action}. States, locks and guarantees are those of
 * {@code dev.lockstep.job}; an action's record is inserted in the transaction of the action.
 */
@NullMarked
package dev.lockstep.server.job;

import org.jspecify.annotations.NullMarked;
