package dev.lockstep.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.transaction.annotation.Isolation;

/**
 * A method of a bean that runs in a transaction of Spring's, which is run again as a whole after a
 * conflict: a serialization failure, a deadlock, or a connection that was lost before COMMIT. It
 * replaces {@code @Transactional}.
 *
 * <p>A connection lost during COMMIT is not retried: the call ends in {@link
 * dev.lockstep.fault.OutcomeUnknown}. Inside another transaction the method joins that one and is
 * not retried, because only the whole can be. Like any advice of Spring's, it applies to calls from
 * other beans.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Retrying {
  /** How often the method runs at most. */
  int maxAttempts() default 5;

  Isolation isolation() default Isolation.DEFAULT;

  /** The longest wait for one lock; 0: as the session has it. */
  long lockTimeoutMs() default 3_000;
}
