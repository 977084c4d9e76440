package dev.lockstep.broker;

import kafka.Kafka;
import kafka.tools.StorageTool;

/** The broker's main class: formats its storage if needed and runs the broker. */
final class BrokerProcess {
  private static final int PARENT_DIED = 86;

  private BrokerProcess() {}

  /** Arguments: the configuration file and the cluster's id. */
  public static void main(String[] args) {
    ProcessHandle parent = ProcessHandle.current().parent().orElseThrow();
    var unused = parent.onExit().thenRun(() -> Runtime.getRuntime().halt(PARENT_DIED));
    int code =
        StorageTool.execute(
            new String[] {
              "format", "--ignore-formatted", "--config", args[0], "--cluster-id", args[1]
            },
            System.out);
    if (code != 0) {
      System.exit(code);
    }
    Kafka.main(new String[] {args[0]});
  }
}
