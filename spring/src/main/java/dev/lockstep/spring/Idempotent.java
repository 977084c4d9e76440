package dev.lockstep.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean, such as a controller's, that takes effect once for each idempotency key. It
 * runs in a transaction of Spring's, which also stores its answer as JSON. Called again with the
 * same key, it does not run: the stored answer is returned. A concurrent call with the same key
 * waits for the first. If the method throws, nothing is stored and the key is free again.
 *
 * <p>The values are expressions of Spring's over the parameters, such as {@code #order.customer}.
 *
 * <p>The method returns what JSON can hold, not a {@code ResponseEntity}. An {@link
 * IdempotencyRefused} tells that the key was used for another request, or that a claim of it, made
 * elsewhere, has no answer yet.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Idempotent {
  /** Whose key it is, so that two callers may use the same one. */
  String owner();

  /** The key that the caller chose. */
  String key();

  /** What must be the same when the key comes again; usually the request's body. */
  String request();

  /** Keeps these keys apart from others. */
  long scope() default 0;
}
