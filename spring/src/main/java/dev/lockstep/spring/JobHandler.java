package dev.lockstep.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that runs the jobs of one kind. It runs in a transaction of Spring's, and the
 * job is completed in the same transaction: what the method writes through JDBC, JPA or jOOQ
 * happens exactly once.
 *
 * <p>The method may take the payload (as {@code String}, or any type that JSON is read to) and a
 * {@link dev.lockstep.job.JobContext}. It returns nothing or an {@link dev.lockstep.job.Outcome};
 * any outcome but done rolls its writes back. If it throws, the job is retried after the queue's
 * backoff. {@code @Transactional} on the method may choose isolation and timeout, but no
 * propagation of its own.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface JobHandler {
  /** The kind of the jobs. */
  String value();

  /** The queue that has these jobs; this node's worker serves it. */
  String queue() default "default";
}
