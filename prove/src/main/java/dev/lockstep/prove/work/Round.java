package dev.lockstep.prove.work;

import dev.lockstep.prove.fault.Cluster;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Recorder;
import java.util.Map;
import java.util.TreeMap;

/** One round of a campaign: fresh things, one history. Thread-safe. */
public final class Round implements Cluster.NodeListener {
  private final Cluster cluster;
  private final Recorder recorder = new Recorder();
  private final long number;
  private final Map<String, Workload> byPrefix = new TreeMap<>();
  private volatile boolean calm;

  /**
   * Begins a round.
   *
   * @param number unique in its database; ids and names of the round derive from it
   */
  public Round(Cluster cluster, long number) {
    this.cluster = cluster;
    this.number = number;
  }

  public Cluster cluster() {
    return cluster;
  }

  public Recorder recorder() {
    return recorder;
  }

  /** An id for a scope, a book or a list, unique in the database. */
  public long id(int which) {
    return number * 1_000 + which;
  }

  /** Begins the names of this round's things. */
  public String prefix(String workload) {
    return workload + number + "-";
  }

  /** Events whose key begins with this go to the workload. */
  public void receives(String prefix, Workload workload) {
    byPrefix.put(prefix, workload);
  }

  /** From now on nothing fails on purpose. */
  public void calm() {
    calm = true;
  }

  @Override
  public void told(int node, String verb, Fields fields) {
    recorder.note(node, verb, fields);
  }

  /** All deliveries of all nodes pass here, one at a time: that is the order they have. */
  @Override
  public synchronized Fields asked(int node, String verb, Fields fields) {
    String key = fields.text("key");
    for (Map.Entry<String, Workload> each : byPrefix.entrySet()) {
      if (key.startsWith(each.getKey())) {
        String result = each.getValue().deliver(fields, calm);
        recorder.note(node, result.equals("ok") ? "sink.took" : "sink.refused", fields);
        return Fields.of("result", result);
      }
    }
    return Fields.of("result", "ok");
  }
}
