/**
 * Configures Lockstep in a Spring Boot application.
 *
 * <p>Start with {@link dev.lockstep.spring.boot.LockstepAutoConfiguration}; {@link
 * dev.lockstep.spring.boot.LockstepProperties} lists what can be set. Every bean except the advice
 * of {@code @Retrying} and {@code @Idempotent} gives way to one of the application's.
 *
 * <p>Owns no table and locks no row.
 */
@NullMarked
package dev.lockstep.spring.boot;

import org.jspecify.annotations.NullMarked;
