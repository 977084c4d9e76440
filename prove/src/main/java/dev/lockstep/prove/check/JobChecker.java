package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Never two live leases of one job, by the database's clock as the handlers read it; each job's
 * effect once; nothing due left; lanes in order; each occurrence once.
 */
final class JobChecker implements Checker {
  private static final long SECOND_MICROS = 1_000_000;
  // An effect's time is taken before its COMMIT, which may take this long.
  private static final long SLACK_NANOS = 16_000_000_000L;

  @Override
  public String name() {
    return "jobs";
  }

  @Override
  public Map<String, History> parts(History history) {
    boolean any =
        history.ops().stream()
            .anyMatch(op -> op.is("job.enqueue") || op.is("job.schedule") || op.is("job.held"));
    return any
        ? Map.of(
            "all",
            history.where(
                op -> op.kind().startsWith("job.") || op.is("final.job") || op.is("final.done")))
        : Map.of();
  }

  /** Without a cancel its job would look lost, and without the final read every job would. */
  @Override
  public boolean droppable(String rule, Op op) {
    return !op.is("job.cancel") && !op.is("final.done");
  }

  /** An effect, as read. */
  private record Effect(String job, String name, String run, long due, long at) {
    static Effect parse(String text) {
      String[] parts = text.split(";", -1);
      return new Effect(
          parts[0], parts[1], parts[2], Long.parseLong(parts[3]), Long.parseLong(parts[4]));
    }
  }

  @Override
  public List<Violation> check(String part, History history) {
    List<Violation> found = new ArrayList<>();
    leases(history, found);
    Map<String, List<Effect>> effects = new HashMap<>();
    Set<Effect> seen = new HashSet<>();
    boolean wasRead = false;
    for (Op op : history.of("final.done").toList()) {
      if (op.args().text("prefix", "").startsWith("job")) {
        wasRead = true;
        for (String each : op.result().parts("done", ",")) {
          Effect effect = Effect.parse(each);
          if (seen.add(effect)) {
            effects.computeIfAbsent(effect.job(), j -> new ArrayList<>()).add(effect);
          }
        }
      }
    }
    if (wasRead) {
      once(effects, found);
      early(effects, found);
      nothingLeft(history, effects, found);
      lanes(history, effects, found);
      uniques(history, effects, found);
      duplicates(history, effects, found);
      occurrences(history, effects, found);
    }
    return found;
  }

  private void leases(History history, List<Violation> found) {
    Map<String, List<Op>> byJob = new HashMap<>();
    history
        .of("job.held")
        .forEach(
            op -> byJob.computeIfAbsent(op.result().text("job"), j -> new ArrayList<>()).add(op));
    byJob.forEach(
        (job, runs) -> {
          for (int i = 0; i < runs.size(); i++) {
            for (int k = i + 1; k < runs.size(); k++) {
              Fields a = runs.get(i).result();
              Fields b = runs.get(k).result();
              if (!a.text("run").equals(b.text("run"))
                  && a.number("from") < b.number("to")
                  && b.number("from") < a.number("to")) {
                found.add(
                    new Violation(
                        name(),
                        "one live lease",
                        job,
                        "two at a time: " + a + " and " + b,
                        List.of(runs.get(i), runs.get(k))));
                return;
              }
            }
          }
        });
  }

  private void once(Map<String, List<Effect>> effects, List<Violation> found) {
    effects.forEach(
        (job, all) -> {
          if (all.size() > 1) {
            found.add(of("a job's effect once", job, all.toString()));
          }
        });
  }

  private void early(Map<String, List<Effect>> effects, List<Violation> found) {
    effects.forEach(
        (job, all) -> {
          if (all.get(0).at() < all.get(0).due()) {
            found.add(of("no job runs before it is due", job, all.toString()));
          }
        });
  }

  private void nothingLeft(
      History history, Map<String, List<Effect>> effects, List<Violation> found) {
    Set<String> maybeCancelled = new HashSet<>();
    Set<String> cancelled = new HashSet<>();
    for (Op op : history.of("job.cancel").toList()) {
      if (op.ok() || op.unknown()) {
        maybeCancelled.add(op.args().text("job"));
      }
      if (op.ok()) {
        cancelled.add(op.args().text("job"));
      }
    }
    for (Op op : history.of("final.job").toList()) {
      if (!op.result().text("state").equals("NONE")) {
        found.add(of("nothing due is left", op.args().text("job"), op.toString()));
      }
    }
    for (Op op : history.of("job.enqueue").filter(Op::ok).toList()) {
      String job = op.result().text("job");
      boolean done = effects.containsKey(job);
      if (!done && !maybeCancelled.contains(job)) {
        found.add(of("a job that was accepted is done", job, op.toString()));
      }
      if (done && cancelled.contains(job)) {
        found.add(of("a cancelled job has no effect", job, op.toString()));
      }
    }
    Set<String> names = new HashSet<>();
    history
        .of("job.enqueue")
        .filter(op -> op.failed() || op.refused())
        .forEach(op -> names.add(op.args().text("name")));
    effects.forEach(
        (job, all) -> {
          if (names.contains(all.get(0).name())) {
            found.add(of("a refused job does not run", job, all.toString()));
          }
        });
  }

  /** Of two jobs of a lane, the one enqueued before the other is done before the other begins. */
  private void lanes(History history, Map<String, List<Effect>> effects, List<Violation> found) {
    Map<String, List<Op>> lanes = new TreeMap<>();
    history
        .of("job.enqueue")
        .filter(op -> op.ok() && op.args().has("lane"))
        .forEach(
            op -> lanes.computeIfAbsent(op.args().text("lane"), l -> new ArrayList<>()).add(op));
    // When a job had certainly begun: its runs' earliest reading of the clock.
    Map<String, Long> began = new HashMap<>();
    history
        .of("job.began")
        .forEach(op -> began.merge(op.result().text("job"), op.result().number("from"), Math::min));
    lanes.forEach(
        (lane, jobs) -> {
          for (Op first : jobs) {
            List<Effect> done = effects.get(first.result().text("job"));
            if (done == null) {
              continue;
            }
            for (Op second : jobs) {
              Long start = began.get(second.result().text("job"));
              if (first.before(second) && start != null && start < done.get(0).at()) {
                found.add(
                    new Violation(
                        name(),
                        "a lane keeps its order",
                        lane,
                        "the second began before the first was done",
                        List.of(first, second)));
                return;
              }
            }
          }
        });
  }

  /** Two jobs with one unique key are not live at the same time. */
  private void uniques(History history, Map<String, List<Effect>> effects, List<Violation> found) {
    Map<String, List<Op>> keys = new TreeMap<>();
    history
        .of("job.enqueue")
        .filter(op -> op.ok() && op.args().has("unique"))
        .forEach(
            op -> keys.computeIfAbsent(op.args().text("unique"), k -> new ArrayList<>()).add(op));
    Set<String> cancels = new HashSet<>();
    history.of("job.cancel").forEach(op -> cancels.add(op.args().text("job")));
    keys.forEach(
        (key, jobs) -> {
          for (Op first : jobs) {
            String job = first.result().text("job");
            List<Effect> done = cancels.contains(job) ? null : effects.get(job);
            for (Op second : jobs) {
              if (first.before(second)
                  && done != null
                  && history.driverNanos(done.get(0).at()) > second.end() + 150_000_000) {
                found.add(
                    new Violation(
                        name(),
                        "a unique key has one job",
                        key,
                        "the second was accepted while the first lived",
                        List.of(first, second)));
                return;
              }
            }
          }
        });
  }

  /** Finds a job refused as the duplicate of one that was long done. */
  private void duplicates(
      History history, Map<String, List<Effect>> effects, List<Violation> found) {
    for (Op op : history.of("job.enqueue").filter(Op::refused).toList()) {
      List<Effect> done = effects.get(op.result().text("existing", ""));
      if (done != null && history.driverNanos(done.get(0).at()) + SLACK_NANOS < op.start()) {
        found.add(of("a duplicate is of a live job", op.args().text("unique"), op.toString()));
        return;
      }
    }
  }

  private void occurrences(
      History history, Map<String, List<Effect>> effects, List<Violation> found) {
    for (Op made : history.of("job.schedule").filter(Op::ok).toList()) {
      String name = made.args().text("name");
      TreeMap<Long, Integer> due = new TreeMap<>();
      effects.values().stream()
          .flatMap(List::stream)
          .filter(effect -> effect.name().equals(name))
          .forEach(effect -> due.merge(effect.due(), 1, Integer::sum));
      long expected = made.result().number("next");
      for (Map.Entry<Long, Integer> each : due.entrySet()) {
        if (each.getValue() > 1) {
          found.add(of("each occurrence once", name, "twice: " + each.getKey()));
          return;
        }
        if (each.getKey() != expected) {
          found.add(
              of("no occurrence is lost", name, "%d after %d".formatted(each.getKey(), expected)));
          return;
        }
        expected += made.args().number("every") * SECOND_MICROS;
      }
    }
  }

  private Violation of(String rule, String part, String why) {
    return new Violation(name(), rule, part, why, List.of());
  }
}
