/**
 * Jobs: work that is written down in a transaction and done later, once.
 *
 * <p>Tables owned: {@code job}, {@code job_away}, {@code job_unique}, {@code job_attempt}, {@code
 * job_dead}, {@code job_queue}, {@code job_history}, {@code job_schedule}, {@code job_claim},
 * {@code job_claim_queue}, {@code job_worker_queue}.
 *
 * <p>Guarantee (G6, docs/guarantees.md): a due job runs under one live lease. The owner of a shard
 * reads what is due and runs it; reading writes nothing. What it writes when a job has ended is
 * fenced by the shard's epoch, so that the result of a worker that lost its lease is refused.
 * Nothing that is due is lost: a job leaves the table only with its result.
 *
 * <p>A job may be <em>begun</em> more than once: when its worker dies, or is stopped for longer
 * than its lease. Effects written in the transaction that completes it ({@link
 * dev.lockstep.job.Outcome.Done#writing}) happen exactly once.
 */
@NullMarked
package dev.lockstep.job;

import org.jspecify.annotations.NullMarked;
