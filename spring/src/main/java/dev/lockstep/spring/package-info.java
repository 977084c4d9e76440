/**
 * Lockstep in a Spring application: transactions in common, and handlers as methods of beans.
 *
 * <p>Start with {@link dev.lockstep.spring.SpringHostTransactions}, which makes a Transactor join
 * Spring's transactions. The annotations are {@link dev.lockstep.spring.JobHandler}, {@link
 * dev.lockstep.spring.Recurring}, {@link dev.lockstep.spring.OutboxSink}, {@link
 * dev.lockstep.spring.Retrying} and {@link dev.lockstep.spring.Idempotent}. {@link
 * dev.lockstep.spring.LockstepRuntime} starts and stops what they need. Nothing here needs Spring
 * Boot; the starter configures it.
 *
 * <p>Owns no table and locks no row.
 */
@NullMarked
package dev.lockstep.spring;

import org.jspecify.annotations.NullMarked;
