package dev.lockstep.broker;

import java.util.Map;
import java.util.concurrent.ExecutionException;
import kafka.Kafka;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;

/** The broker's main class: formats its storage if needed and runs the broker. */
final class BrokerProcess {
  /** Printed once the broker answers, whatever the logging on the class path prints. */
  static final String READY = "lockstep-broker: ready";

  private static final int PARENT_DIED = 86;
  private static final int NO_ANSWER = 87;

  private BrokerProcess() {}

  /** Arguments: the configuration file, the cluster's id, and where clients will connect. */
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
    Thread announcer = new Thread(() -> announce(args[2]), "broker-announcer");
    announcer.setDaemon(true);
    announcer.start();
    Kafka.main(new String[] {args[0]});
  }

  private static void announce(String bootstrapServers) {
    try (Admin admin =
        Admin.create(
            Map.<String, Object>of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers))) {
      // Waits until a broker answers.
      admin.describeCluster().nodes().get();
      System.out.println(READY);
    } catch (ExecutionException e) {
      System.out.println("The broker did not answer: " + e.getCause());
      Runtime.getRuntime().halt(NO_ANSWER);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
