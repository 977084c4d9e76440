package dev.lockstep.server;

import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.config.BlockSettings;
import dev.lockstep.server.delivery.Deliveries;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.job.JobRunner;
import dev.lockstep.server.lifecycle.CannotStart;
import dev.lockstep.server.lifecycle.Opened;
import dev.lockstep.server.schedule.Scheduling;
import java.util.List;
import java.util.stream.Stream;

/**
 * This node's background work: jobs, schedules and housekeeping. It uses all other parts, so it
 * starts last and closes first.
 */
record Work(JobRunner jobs, Scheduling scheduling, List<Endpoint> endpoints, Opened opened)
    implements AutoCloseable {

  static Work open(Node node, Blocks blocks, Publishing publishing) {
    return Opened.allOrNone(
        opened -> {
          JobRunner jobs = jobs(node, blocks);
          Scheduling scheduling = scheduling(node, blocks, jobs, publishing.deliveries());
          List<Endpoint> endpoints =
              Stream.of(
                      scheduling.endpoints(),
                      publishing.deliveries().endpoints(),
                      jobs.endpoints(blocks.workers()),
                      claims(node, blocks, jobs, publishing))
                  .flatMap(List::stream)
                  .toList();
          return new Work(jobs, scheduling, endpoints, opened);
        });
  }

  private static JobRunner jobs(Node node, Blocks blocks) {
    BlockSettings settings = node.config().blocks();
    return new JobRunner(
        blocks.transactor(),
        settings.jobs().withListener(node.metrics().work()),
        node.name(),
        settings.jobPollInterval(),
        Scheduling::recurrence,
        (job, at) -> Deliveries.occurrence(job, at, node.config().deliveries().config()),
        node.listen(),
        node.metrics().jobs());
  }

  private static Scheduling scheduling(
      Node node, Blocks blocks, JobRunner jobs, Deliveries deliveries) {
    return new Scheduling(
        blocks.transactor(),
        blocks.workers(),
        blocks.once(),
        jobs.schedules(),
        deliveries,
        node.config().blocks().history());
  }

  private static List<Endpoint> claims(
      Node node, Blocks blocks, JobRunner jobs, Publishing publishing) {
    return jobs.workEndpoints(
        node.vertx(),
        blocks.workers(),
        node.inFlight(),
        blocks.once(),
        publishing.streams().forJobs(),
        node.config().blocks().claims());
  }

  void startHousekeeping(Checks checks) {
    opened.add(new Housekeeping(jobs, checks.invariants(), checks.reconciliation()));
  }

  /**
   * Starts to run due jobs.
   *
   * @throws CannotStart if this node's settings have a different number of shards than the database
   */
  void startJobs(List<BackgroundJobs> background) {
    opened.add(jobs);
    try {
      jobs.start(background);
    } catch (IllegalStateException e) {
      throw new CannotStart(String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public void close() {
    opened.close();
  }
}
