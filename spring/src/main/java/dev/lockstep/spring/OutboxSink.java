package dev.lockstep.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that receives the events of a stream: for each key in commit order, one at a
 * time, and after a failure or a crash perhaps again. It takes a {@link dev.lockstep.outbox.Event}.
 * If it throws, the event's key waits and is tried again; after ten failures it is parked.
 *
 * <p>The stream and the sink are made at the first start. A sink whose method was removed stays;
 * remove it with {@code Outbox.define}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface OutboxSink {
  /** The stream whose events are received. */
  String stream();

  /** The sink's name, unique in the stream. Progress is kept under it. */
  String name();
}
