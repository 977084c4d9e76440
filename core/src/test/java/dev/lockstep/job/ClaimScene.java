package dev.lockstep.job;

import dev.lockstep.job.ClaimEnd.Lost;
import dev.lockstep.job.ClaimEnd.Recorded;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Somebody who claims jobs of a queue. */
abstract class ClaimScene {
  static final String QUEUE = "parcels";
  static final String ANN = "service:ann";

  final TestDatabase database;
  final String queue;
  @RegisterExtension final Desk desk;
  final Transactor transactor;
  final Jobs jobs;
  final Claims claims;

  /**
   * @param database of the test class, open before the first test
   */
  ClaimScene(TestDatabase database) {
    this(database, QUEUE);
  }

  ClaimScene(TestDatabase database, String queue) {
    this.database = database;
    this.queue = queue;
    this.desk = new Desk(database);
    this.transactor = desk.transactor();
    this.jobs = desk.jobs();
    this.claims = jobs.claims();
  }

  NewJob job(String name) {
    return NewJob.of(queue, Desk.KIND, "\"" + name + "\"");
  }

  void enqueue(NewJob... some) {
    transactor.run(c -> jobs.enqueueAll(c, List.of(some)));
  }

  List<ClaimedJob> claim(int max) {
    return claims
        .claim(queue, List.of(new ClaimAsk(ANN, max, Duration.ofMinutes(10))))
        .jobs()
        .get(0);
  }

  Claims.Taken ask() {
    return claims.claim(queue, List.of(new ClaimAsk(ANN, 1, Desk.LONG)));
  }

  ClaimEnd end(ClaimedJob job, Outcome outcome) {
    return endAs(ANN, job, outcome);
  }

  /** As a caller does it: what is lost is rolled back. */
  ClaimEnd endAs(String claimer, ClaimedJob job, Outcome outcome) {
    ClaimEnd[] ended = new ClaimEnd[1];
    try {
      transactor.run(
          c -> {
            ended[0] = claims.end(c, job.token(), claimer, outcome);
            if (ended[0] instanceof Lost) {
              throw new RolledBack();
            }
          });
    } catch (RolledBack e) {
      // As intended.
    }
    return ended[0];
  }

  private static final class RolledBack extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  static Recorded done() {
    return new Recorded(JobState.DONE, Optional.empty());
  }

  static List<String> payloads(List<ClaimedJob> some) {
    return some.stream().map(ClaimedJob::payload).toList();
  }

  /** One at a time: two that update all rows in different orders would deadlock with each other. */
  synchronized void expireLeases() {
    database.execute("UPDATE lockstep.job_claim SET expires_at = now() - interval '1 second'");
  }

  static void effect(Connection connection, String name) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO effect (name) VALUES (?)")) {
      insert.setString(1, name);
      insert.executeUpdate();
    }
  }

  long effects() {
    return database.queryLong("SELECT count(*) FROM effect");
  }

  long live() {
    return database.queryLong("SELECT count(*) FROM lockstep.job");
  }
}
