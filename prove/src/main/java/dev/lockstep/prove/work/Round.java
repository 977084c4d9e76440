package dev.lockstep.prove.work;

import dev.lockstep.prove.fault.Cluster;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Recorder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** One round of a campaign: fresh ids and names, one history. Thread-safe. */
public final class Round implements Cluster.NodeListener {
  private static final int IDS = 1_000_000;

  private final Cluster cluster;
  private final Recorder recorder = new Recorder();
  private final long number;
  private final Map<String, Workload> byPrefix = new TreeMap<>();
  private final List<Workload> listeners = new CopyOnWriteArrayList<>();
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
    return number * IDS + which;
  }

  /** The prefix of this round's names. */
  public String prefix(String workload) {
    return workload + number + "-";
  }

  /** Events whose key begins with this go to the workload. */
  public void receives(String prefix, Workload workload) {
    byPrefix.put(prefix, workload);
  }

  /** Clients for one workload, which share its traffic. */
  public List<Client> clients(int count, int firstNumber, long seed) {
    Traffic traffic = new Traffic(cluster, count);
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      clients.add(new Client(this, traffic, firstNumber + i, seed + firstNumber + i));
    }
    return clients;
  }

  /** Lets the workload hear what nodes report. */
  public void hears(Workload workload) {
    listeners.add(workload);
  }

  /** From now on nothing fails on purpose. */
  public void calm() {
    calm = true;
  }

  @Override
  public void told(int node, String verb, Fields fields) {
    recorder.note(node, verb, fields);
    listeners.forEach(workload -> workload.heard(verb, fields));
  }

  /**
   * All deliveries of all nodes pass here, one at a time, which defines their order. After a
   * failure, the rest of that key is not sent.
   */
  @Override
  public synchronized Fields asked(int node, String verb, Fields fields) {
    List<String> results = new ArrayList<>();
    Set<String> failed = new HashSet<>();
    for (String line : fields.parts("events", ";")) {
      Fields event = Fields.parse(line);
      String key = event.text("key");
      String result = failed.contains(key) ? "unsent" : deliver(node, key, event);
      if (!result.equals("ok")) {
        failed.add(key);
      }
      results.add(result);
    }
    return Fields.of("results", String.join(",", results));
  }

  private String deliver(int node, String key, Fields event) {
    for (Map.Entry<String, Workload> each : byPrefix.entrySet()) {
      if (key.startsWith(each.getKey())) {
        String result = each.getValue().deliver(event, calm);
        recorder.note(node, result.equals("ok") ? "sink.took" : "sink.refused", event);
        return result;
      }
    }
    return "ok";
  }
}
