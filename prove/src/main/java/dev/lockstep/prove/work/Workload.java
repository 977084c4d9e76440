package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;

/** One kind of work. An object serves one round. Clients call it concurrently. */
public interface Workload {
  /** Makes what the clients need; nothing is broken yet. */
  void prepare(Client client) throws InterruptedException;

  /** One or a few calls of one client. */
  void step(Client client) throws InterruptedException;

  /** Waits for work still pending, and reads everything; nothing is broken any more. */
  void finish(Client client) throws InterruptedException;

  /** Hears what a node reports, after {@link Round#hears}. */
  default void heard(String verb, Fields fields) {}

  /** Decides the result of a delivery of this workload's events. */
  default String deliver(Fields event, boolean calm) {
    return "ok";
  }
}
