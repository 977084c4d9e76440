package dev.lockstep.prove.node;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Status;

/** What a node answers to one call. */
public record Answer(Status status, Fields fields) {
  public static Answer ok(Object... namesAndValues) {
    return new Answer(Status.OK, Fields.of(namesAndValues));
  }

  public static Answer refused(String why, Object... namesAndValues) {
    return new Answer(Status.REFUSED, Fields.of(namesAndValues).with("why", why));
  }

  public static Answer failed(String why) {
    return new Answer(Status.FAILED, Fields.of("why", why));
  }

  public static Answer unknown(String why) {
    return new Answer(Status.UNKNOWN, Fields.of("why", why));
  }
}
