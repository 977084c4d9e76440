package dev.lockstep.lab;

import static dev.lockstep.lab.Group.VERSIONS;

import java.util.List;

/** How PostgreSQL keeps several versions of a row, and how it removes them. */
final class VersionStories {
  private VersionStories() {}

  static final List<Scenario> ALL = List.of(mvcc(), deadTuples());

  private static Scenario mvcc() {
    String look = "SELECT ctid, xmin, xmax, balance FROM account WHERE id = 1";
    String finals = "SELECT ctid, balance FROM account";
    return new Scenario(
        "mvcc",
        VERSIONS,
        "A row has versions",
        """
        A reader looks at a row before, during and after another transaction's update. Does it ever wait,
        and can it see two versions in one transaction?
        """,
        """
        An UPDATE leaves the old version where it is (ctid), records its own transaction there as xmax,
        and writes a new version with xmin. A reader picks the version that its snapshot shows, and so
        never waits. At READ COMMITTED each statement has a new snapshot; from REPEATABLE READ on, the
        transaction has one.
        """,
        "Read what has to agree in one snapshot: REPEATABLE READ, READ ONLY, as Lockstep's audit"
            + " does.",
        Script.between("Reader", "Writer")
            .on("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)")
            .on("INSERT INTO account VALUES (1, 100)")
            .begin("Reader")
            .run("Reader", look)
            .as("before")
            .begin("Writer")
            .run("Writer", "UPDATE account SET balance = 90 WHERE id = 1")
            .run("Writer", look)
            .note("sees its own new version")
            .run("Reader", look)
            .as("during")
            .note("the old version, marked: xmax is the writer")
            .commit("Writer")
            .run("Reader", look)
            .as("after")
            .commit("Reader")
            .judged(finals, VersionStories::twoVersions),
        Script.between("Reader", "Writer")
            .on("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)")
            .on("INSERT INTO account VALUES (1, 100)")
            .beginAs("Reader", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .run("Reader", look)
            .as("before")
            .begin("Writer")
            .run("Writer", "UPDATE account SET balance = 90 WHERE id = 1")
            .run("Reader", look)
            .as("during")
            .commit("Writer")
            .run("Reader", look)
            .as("after")
            .note("still the version of its snapshot")
            .commit("Reader")
            .judged(finals, VersionStories::twoVersions));
  }

  private static Finding twoVersions(Observations seen) {
    String before = seen.text("before");
    String after = seen.text("after");
    return Finding.of(
        !before.equals(after),
        "The reader never waited, and met the row at " + before + " and then at " + after + ".",
        "The reader never waited, and met the row at " + before + " each time.");
  }

  private static Scenario deadTuples() {
    String table = "CREATE TABLE parcel (id int, note text) WITH (autovacuum_enabled = off)";
    String rows = "INSERT INTO parcel VALUES (1, 'a'), (2, 'b'), (3, 'c')";
    String add = "INSERT INTO parcel VALUES (4, 'd') RETURNING ctid";
    String finals = "SELECT ctid, id FROM parcel ORDER BY ctid";
    return new Scenario(
        "dead-tuples",
        VERSIONS,
        "What VACUUM may not remove",
        """
        Row 2 is deleted and VACUUM runs while a report's transaction is still open. Is the dead row's
        space reused, or does the table grow?
        """,
        """
        VACUUM removes a dead version once no snapshot can see it. A transaction at REPEATABLE READ or
        above keeps its snapshot until it ends, and with it every version that died since, in all
        tables. At READ COMMITTED a transaction that is idle holds none.
        """,
        """
        Keep transactions short: read a report page by page, each page in its own transaction, and end
        transactions that idle. GET /v1/database names the oldest.
        """,
        Script.between("Report", "Shop")
            .on(table, rows)
            .begin("Report")
            .run("Report", "SELECT count(*) FROM parcel")
            .note("goes on thinking")
            .run("Shop", "DELETE FROM parcel WHERE id = 2")
            .run("Shop", "VACUUM parcel")
            .run("Shop", add)
            .as("place")
            .commit("Report")
            .judged(finals, VersionStories::grown),
        Script.between("Report", "Shop")
            .on(table, rows)
            .begin("Report")
            .run("Report", "SELECT count(*) FROM parcel")
            .commit("Report")
            .note("thinks without a transaction")
            .run("Shop", "DELETE FROM parcel WHERE id = 2")
            .run("Shop", "VACUUM parcel")
            .run("Shop", add)
            .as("place")
            .judged(finals, VersionStories::grown));
  }

  private static Finding grown(Observations seen) {
    String place = seen.text("place");
    return Finding.of(
        !place.equals("(0,2)"),
        "Row 2 was dead and stayed: the new row had to go to " + place + ".",
        "VACUUM removed the dead row, and the new one took its place, " + place + ".");
  }
}
