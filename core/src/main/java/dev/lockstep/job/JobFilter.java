package dev.lockstep.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Selects jobs that match every given part. */
public record JobFilter(Optional<String> queue, Optional<String> kind, Optional<String> text) {
  public static final JobFilter ALL =
      new JobFilter(Optional.empty(), Optional.empty(), Optional.empty());

  public JobFilter inQueue(String queue) {
    return new JobFilter(Optional.of(queue), kind, text);
  }

  public JobFilter ofKind(String kind) {
    return new JobFilter(queue, Optional.of(kind), text);
  }

  /** Only jobs with this text in the payload. */
  public JobFilter containing(String text) {
    return new JobFilter(queue, kind, Optional.of(text));
  }

  /** A condition on {@code j} to append to others. Its parameters are {@link #parameters}. */
  String sql() {
    return (queue.isPresent() ? " AND j.queue = ?" : "")
        + (kind.isPresent() ? " AND j.kind = ?" : "")
        + (text.isPresent() ? " AND position(? IN j.payload::text) > 0" : "");
  }

  List<Object> parameters() {
    List<Object> all = new ArrayList<>();
    queue.ifPresent(all::add);
    kind.ifPresent(all::add);
    text.ifPresent(all::add);
    return all;
  }
}
