package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A reader of the history, as pg_dump is for hours, stops neither work nor other readers. */
class HistoryUnderReadersTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  /** The day when partitions are due, and none was made ahead. */
  @BeforeEach
  void withoutPartitions() {
    database.execute(
        """
        DO $$
        DECLARE part regclass;
        BEGIN
          FOR part IN SELECT inhrelid FROM pg_inherits
            WHERE inhparent = 'lockstep.job_history'::regclass
              AND inhrelid::regclass::text ~ '_[0-9]+$'
          LOOP EXECUTE 'DROP TABLE ' || part; END LOOP;
        END $$""");
  }

  @Test
  void jobsAreDoneAndFoundWhileAReaderStopsPartitionsFromBeingMade() throws Exception {
    Jobs jobs = keeping(7);
    JobId id = desk.enqueue(Desk.job(1));
    try (Connection reader = database.connection()) {
      lockAsADump(reader);
      desk.start(jobs, Desk.worker(1), desk::note);
      Await.until("it is done", () -> isDone(jobs, id));
      assertThat(days()).isEmpty();
      reader.rollback();
    }
    Await.until("the worker makes them later", () -> days().size() >= 3);
    JobId after = desk.enqueue(Desk.job(2));
    Await.until("it is done", () -> isDone(jobs, after));
    assertThat(jobs.find(id)).isPresent();
  }

  @Test
  void othersReadAndWriteWhileMaintenanceMeetsAReader() throws Exception {
    Jobs jobs = keeping(7);
    try (Connection reader = database.connection()) {
      lockAsADump(reader);
      Thread maintenance =
          new Thread(
              () -> {
                for (int i = 0; i < 3; i++) {
                  jobs.maintain();
                }
              });
      maintenance.start();
      JobId id = desk.enqueue(Desk.job(1));
      desk.start(jobs, Desk.worker(1), desk::note);
      Await.until("it is done", () -> isDone(jobs, id));
      maintenance.join();
      reader.rollback();
    }
  }

  @Test
  void whatWasDoneBesideThePartitionsIsKeptAsLongAndNoLonger() throws Exception {
    Jobs jobs = keeping(2);
    try (Connection reader = database.connection()) {
      lockAsADump(reader);
      Worker worker = desk.start(jobs, Desk.worker(1), desk::note);
      desk.enqueueMany(3);
      desk.awaitNoneLive();
      worker.close();
      reader.rollback();
    }
    assertThat(rest()).isEqualTo(3);

    jobs.maintain();
    jobs.maintain();

    assertThat(days()).as("those of days that have no rows beside them").hasSize(3);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_history")).isEqualTo(3);
    database.execute(
        "UPDATE lockstep.job_history_rest SET finished_at = now() - interval '3 days'");
    jobs.maintain();
    assertThat(rest()).isZero();
    assertThat(days()).hasSize(4);
  }

  @Test
  void anOldPartitionIsDroppedWhenNobodyReadsItAnyMore() throws Exception {
    database.execute(
        """
        CREATE TABLE lockstep.job_history_20010101 PARTITION OF lockstep.job_history
        FOR VALUES FROM ('2001-01-01 00:00:00+00') TO ('2001-01-02 00:00:00+00')""");
    Jobs jobs = keeping(1);
    try (Connection reader = database.connection()) {
      lockAsADump(reader);
      jobs.maintain();
      assertThat(days()).contains("job_history_20010101");
      reader.rollback();
    }
    jobs.maintain();
    assertThat(days()).doesNotContain("job_history_20010101");
  }

  @Test
  void makingAPartitionLocksOutNobodyWhoWritesHistory() throws Exception {
    Jobs jobs = keeping(1);
    jobs.maintain();
    String tomorrow = days().get(1);
    database.execute("DROP TABLE lockstep." + tomorrow);
    try (Connection writer = database.connection()) {
      writer.setAutoCommit(false);
      // As a worker does in the middle of its transaction.
      Sql.execute(
          writer,
          """
          INSERT INTO lockstep.job_history
            (shard, id, queue, kind, payload, attempts, due, finished_at)
          VALUES (0, gen_random_uuid(), 'q', 'k', '1', 0, now(), now())""");
      jobs.maintain();
      assertThat(days()).contains(tomorrow);
      writer.rollback();
    }
  }

  @Test
  void aWorkerBeginsAlthoughItsHousekeepingHasToWait() throws Exception {
    try (Connection other = database.connection()) {
      other.setAutoCommit(false);
      Sql.execute(other, "LOCK TABLE lockstep.job_attempt IN ACCESS EXCLUSIVE MODE");
      Jobs jobs = keeping(1);
      desk.start(jobs, Desk.worker(1), desk::note);
      JobId id = desk.enqueue(Desk.job(1));
      Await.until("it is done", () -> isDone(jobs, id));
      other.rollback();
    }
  }

  private Jobs keeping(int days) {
    return new Jobs(desk.transactor(), Desk.config().withHistoryDays(days));
  }

  private static boolean isDone(Jobs jobs, JobId id) {
    return jobs.find(id).orElseThrow().state() == JobState.DONE;
  }

  /** All tables, as it does before it reads any; held until it has read the last. */
  private static void lockAsADump(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    for (String table :
        database.query(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
                + " WHERE schemaname = 'lockstep' ORDER BY 1",
            row -> row.getString(1))) {
      Sql.execute(connection, "LOCK TABLE ONLY " + table + " IN ACCESS SHARE MODE");
    }
  }

  private static List<String> days() {
    return database.query(
        """
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'lockstep.job_history'::regclass AND c.relname ~ '_[0-9]{8}$'
        ORDER BY c.relname""",
        row -> row.getString(1));
  }

  private static long rest() {
    return database.queryLong("SELECT count(*) FROM lockstep.job_history_rest");
  }
}
