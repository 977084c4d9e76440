package dev.lockstep.lab;

import static dev.lockstep.lab.Group.LOCKS;

import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What to do when another transaction was faster. */
final class RetryStories {
  private static final String ACCOUNT =
      "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)";
  private static final String READ = "SELECT balance FROM account WHERE id = 1";
  private static final String PAY_20 = "UPDATE account SET balance = balance - 20 WHERE id = 1";

  private RetryStories() {}

  static final List<Scenario> ALL = List.of(retryInside(), optimisticVersion());

  private static Scenario retryInside() {
    String again = "the first attempt worked";
    return new Scenario(
        "retry-inside",
        LOCKS,
        "Retrying inside one transaction",
        """
        Bob's payment meets 40001. A function catches it and tries again, in the same transaction, up to
        three times. Can that ever work?
        """,
        """
        A transaction above READ COMMITTED keeps the snapshot of its first statement, even after a
        rollback to a savepoint. Each attempt sees the same old rows and fails in the same way. At READ
        COMMITTED the update waits and then works, so there is nothing to retry.
        """,
        """
        Retry the whole transaction, from outside, with a new snapshot and a pause of random length.
        That is what Lockstep's Transactor does, which runs here.
        """,
        Script.between("Ann", "Bob")
            .on(ACCOUNT, "INSERT INTO account VALUES (1, 100)")
            .begin("Ann", "Bob")
            .run("Bob", READ)
            .as("read")
            .run("Ann", "UPDATE account SET balance = balance - 10 WHERE id = 1")
            .run("Bob", "SAVEPOINT attempt")
            .run("Bob", PAY_20)
            .as("1st")
            .commit("Ann")
            .rollbackTo("Bob", "attempt")
            .when(seen -> seen.failed("1st"), again)
            .run("Bob", PAY_20)
            .as("2nd")
            .when(seen -> seen.failed("1st"), again)
            .rollbackTo("Bob", "attempt")
            .when(seen -> seen.failed("2nd"), again)
            .run("Bob", PAY_20)
            .as("3rd")
            .when(seen -> seen.failed("2nd"), again)
            .commit("Bob")
            .judged("SELECT balance FROM account", RetryStories::neverPaid),
        Script.between("Ann", "Bob")
            .on(ACCOUNT, "INSERT INTO account VALUES (1, 100)")
            .begin("Ann")
            .run("Ann", "UPDATE account SET balance = balance - 10 WHERE id = 1")
            .code(
                "Bob",
                "transactor.run(options, tx -> { read the balance; pay 20 })",
                RetryStories::pay)
            .commit("Ann")
            .judged("SELECT balance FROM account", RetryStories::neverPaid));
  }

  /** Runs the library itself on the session's connection; one row per attempt. */
  private static Outcome pay(Connection connection, Isolation isolation) {
    List<List<String>> attempts = new ArrayList<>();
    Transactor transactor =
        new Transactor(
            new OneConnection(connection),
            TxOptions.DEFAULT.withIsolation(isolation),
            ended ->
                attempts
                    .get(ended.number() - 1)
                    .add(
                        ended
                            .fault()
                            .map(fault -> fault.name().toLowerCase(Locale.ROOT))
                            .orElse("committed")));
    transactor.run(
        tx -> {
          List<String> attempt = new ArrayList<>();
          attempts.add(attempt);
          attempt.add(String.valueOf(attempts.size()));
          attempt.add(balance(tx));
          try (Statement statement = tx.createStatement()) {
            statement.executeUpdate(PAY_20);
          }
        });
    return new Outcome.Rows(List.of("attempt", "read", "ended"), attempts);
  }

  private static String balance(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(READ)) {
      row.next();
      return row.getString(1);
    }
  }

  private static Finding neverPaid(Observations seen) {
    long balance = seen.finalNumber(0);
    return Finding.of(
        balance == 90,
        "Ann paid 10, Bob's 20 failed each time: 90 are left.",
        "Ann paid 10 and Bob 20: " + balance + " are left.");
  }

  private static Scenario optimisticVersion() {
    String read = "SELECT title, version FROM page WHERE id = 1";
    String finals = "SELECT title, version FROM page";
    return new Scenario(
        "optimistic-version",
        LOCKS,
        "An edit, overwritten",
        """
        Ann and Bob open the same page, and each saves after a while. Can Ann's text vanish without a
        warning?
        """,
        """
        Reading and saving are two requests, and so two transactions, with a coffee break between them. No
        isolation level reaches that far, not even SERIALIZABLE.
        """,
        """
        Give the row a version, return it with the text, and save only if it is still the same. Zero rows:
        tell Bob that the text has changed (412), and show him the change. Lockstep's schedules do so.
        """,
        Script.between("Ann", "Bob")
            .on("CREATE TABLE page (id int PRIMARY KEY, title text NOT NULL, version int NOT NULL)")
            .on("INSERT INTO page VALUES (1, 'Draft', 1)")
            .run("Ann", read)
            .run("Bob", read)
            .begin("Ann")
            .run("Ann", "UPDATE page SET title = 'By Ann', version = version + 1 WHERE id = 1")
            .as("Ann saved")
            .commit("Ann")
            .begin("Bob")
            .run("Bob", "UPDATE page SET title = 'By Bob', version = version + 1 WHERE id = 1")
            .as("Bob saved")
            .commit("Bob")
            .judged(finals, RetryStories::overwritten),
        Script.between("Ann", "Bob")
            .on("CREATE TABLE page (id int PRIMARY KEY, title text NOT NULL, version int NOT NULL)")
            .on("INSERT INTO page VALUES (1, 'Draft', 1)")
            .run("Ann", read)
            .as("Ann read")
            .run("Bob", read)
            .as("Bob read")
            .begin("Ann")
            .run("Ann", save("Ann"))
            .as("Ann saved")
            .with(seen -> List.of(Integer.valueOf(seen.rows("Ann read").get(0).get(1))))
            .commit("Ann")
            .begin("Bob")
            .run("Bob", save("Bob"))
            .as("Bob saved")
            .with(seen -> List.of(Integer.valueOf(seen.rows("Bob read").get(0).get(1))))
            .note("zero rows: Bob is shown what Ann wrote")
            .commit("Bob")
            .judged(finals, RetryStories::overwritten));
  }

  private static String save(String who) {
    return "UPDATE page SET title = 'By "
        + who
        + "', version = version + 1 WHERE id = 1 AND version = ?";
  }

  private static Finding overwritten(Observations seen) {
    return Finding.of(
        seen.changed("Ann saved") == 1 && seen.changed("Bob saved") == 1,
        "Both were told “saved”, and what is there is “" + seen.finalRows().get(0).get(0) + "”.",
        "Bob's save changed no row, so he knows; “" + seen.finalRows().get(0).get(0) + "” stands.");
  }
}
