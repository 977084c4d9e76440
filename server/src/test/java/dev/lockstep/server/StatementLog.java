package dev.lockstep.server;

import dev.lockstep.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The transactions that PostgreSQL has executed, statement by statement, read from its own log. */
final class StatementLog {
  /** As the log's line prefix has it: when, process and database. Later lines are indented. */
  private static final Pattern LINE =
      Pattern.compile("^\\S+ \\S+ \\S+ \\[(\\d+)] (\\S+) LOG:  (?:statement|execute [^:]*): (.*)$");

  private final Path file;
  private final String database;

  /** Logs the statements of sessions that begin from now on. */
  StatementLog(TestDatabase database) {
    this.database = database.query("SELECT current_database()", row -> row.getString(1)).get(0);
    this.file =
        Path.of(database.query("SHOW data_directory", row -> row.getString(1)).get(0))
            .resolveSibling("postgres.log");
    database.execute("ALTER DATABASE \"%s\" SET log_statement = 'all'".formatted(this.database));
  }

  /** Each transaction's statements, in the order in which they were executed. */
  List<List<String>> transactions() throws IOException {
    List<List<String>> all = new ArrayList<>();
    Map<String, List<String>> open = new HashMap<>();
    for (Entry entry : entries()) {
      if (entry.sql().startsWith("BEGIN") || !open.containsKey(entry.process())) {
        List<String> begun = new ArrayList<>();
        open.put(entry.process(), begun);
        all.add(begun);
      }
      open.get(entry.process()).add(entry.sql());
      if (entry.sql().matches("(?s)(COMMIT|ROLLBACK)(?! TO).*")) {
        open.remove(entry.process());
      }
    }
    return all;
  }

  private record Entry(String process, String sql) {}

  private List<Entry> entries() throws IOException {
    List<Entry> entries = new ArrayList<>();
    String process = "";
    StringBuilder sql = new StringBuilder();
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("\t")) {
        sql.append('\n').append(line);
        continue;
      }
      add(entries, process, sql);
      Matcher statement = LINE.matcher(line);
      boolean ours = statement.find() && statement.group(2).equals(database);
      process = ours ? statement.group(1) : "";
      sql = new StringBuilder(ours ? statement.group(3) : "");
    }
    add(entries, process, sql);
    return entries;
  }

  private static void add(List<Entry> entries, String process, StringBuilder sql) {
    if (!process.isEmpty()) {
      entries.add(new Entry(process, sql.toString().strip()));
    }
  }
}
