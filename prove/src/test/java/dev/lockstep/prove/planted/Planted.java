package dev.lockstep.prove.planted;

import dev.lockstep.prove.Campaign.Tampering;
import dev.lockstep.prove.fault.Fault;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * A bug that is put in on purpose: statements changed on their way to the database, constraints
 * taken away.
 *
 * @param workload in which it has to be found
 * @param faults that bring it out; empty: concurrency alone does
 * @param schema run in the database first
 */
record Planted(String name, String workload, List<Fault> faults, List<Edit> edits, String schema) {

  /** Replaces what matches, in statements that contain the mark. */
  record Edit(String mark, Pattern pattern, String replacement, AtomicLong applied) {
    String apply(String sql) {
      if (!sql.contains(mark)) {
        return sql;
      }
      String changed = pattern.matcher(sql).replaceAll(replacement);
      if (!changed.equals(sql)) {
        applied.incrementAndGet();
      }
      return changed;
    }
  }

  static Planted in(String workload, String name) {
    return new Planted(name, workload, List.of(), List.of(), "");
  }

  Planted with(Fault... more) {
    return new Planted(name, workload, List.of(more), edits, schema);
  }

  /** Adds an edit of the statements that contain a text. */
  Planted edit(String mark, String regex, String replacement) {
    List<Edit> all = new ArrayList<>(edits);
    all.add(new Edit(mark, Pattern.compile(regex), replacement, new AtomicLong()));
    return new Planted(name, workload, faults, all, schema);
  }

  Planted schema(String sql) {
    return new Planted(name, workload, faults, edits, schema + sql + ";\n");
  }

  Tampering tampering() {
    return new Tampering(edits.isEmpty() ? null : this::rewrite, schema);
  }

  private String rewrite(String sql) {
    String changed = sql;
    for (Edit edit : edits) {
      changed = edit.apply(changed);
    }
    return changed;
  }

  /** Whether every edit met its statement. */
  boolean wasApplied() {
    return edits.stream().allMatch(edit -> edit.applied().get() > 0);
  }
}
