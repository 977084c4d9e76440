package dev.lockstep.gateway;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a batch writes and answers. Filled by {@link Decision}, then only read. */
final class Plan {
  private final Instant now;
  private final List<Intent> created = new ArrayList<>();
  private final Map<String, Intent> changed = new LinkedHashMap<>();
  private final List<Refund> refunds = new ArrayList<>();
  private final Map<String, Refund> settled = new LinkedHashMap<>();
  // In the order of their keys, so that two nodes that write the same keys cannot deadlock.
  private final Map<String, Books.Stored> stored = new TreeMap<>();
  private final List<Event> events = new ArrayList<>();
  private final List<Answer> answers = new ArrayList<>();

  Plan(Instant now) {
    this.now = now;
  }

  Instant now() {
    return now;
  }

  List<Intent> created() {
    return created;
  }

  /** Each intent once, as it is after the batch. */
  Map<String, Intent> changed() {
    return changed;
  }

  List<Refund> refunds() {
    return refunds;
  }

  /** Each changed refund once, as it is after the batch. */
  Map<String, Refund> settled() {
    return settled;
  }

  Map<String, Books.Stored> stored() {
    return stored;
  }

  List<Event> events() {
    return events;
  }

  List<Answer> answers() {
    return answers;
  }
}
