package dev.lockstep.prove.fault;

import dev.lockstep.testkit.CommitRecogniser;
import dev.lockstep.testkit.MessageStream;
import dev.lockstep.testkit.MessageStream.Message;
import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TcpProxy.Passage;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One connection of a node to the database, as the proxy sees it: knows its transaction's block and
 * phase, and cuts at a chosen moment of a COMMIT. Each direction has its own thread.
 */
final class Wire implements TcpProxy.Tap {
  private static final Pattern TABLE =
      Pattern.compile("\\b(?:lockstep|prove|lockstep_server)\\.([a-z]+)");
  private static final Map<String, String> SUBJECTS = new HashMap<>();

  static {
    subjects("hold", "hold", "pool", "unit", "quota", "stock", "scope");
    subjects("once", "once", "effect");
    subjects("job", "job", "done");
    subjects("outbox", "outbox");
    subjects("ledger", "account", "transfer", "entry", "book", "ledger", "move");
    subjects("tx", "list");
    subjects("shard", "shard");
    subjects("purchase", "purchase", "try", "webhook");
  }

  private final Line line;
  private final MessageStream fromClient = MessageStream.fromClient();
  private final MessageStream fromServer = MessageStream.fromServer();
  private final CommitRecogniser recogniser = new CommitRecogniser();
  private final Map<String, Set<String>> statements = new HashMap<>();
  private final Set<String> current = new ConcurrentSkipListSet<>();
  private volatile Phase phase = Phase.IDLE;
  private volatile boolean over;

  Wire(Line line) {
    this.line = line;
  }

  private static void subjects(String subject, String... tables) {
    for (String table : tables) {
      SUBJECTS.put(table, subject);
    }
  }

  Phase phase() {
    return over ? Phase.IDLE : phase;
  }

  /** The block whose transaction is under way. */
  String subject() {
    Set<String> now = new TreeSet<>(current);
    now.remove("other");
    if (now.contains("purchase")) {
      return "purchase";
    }
    if (now.contains("hold") && (now.contains("ledger") || now.contains("outbox"))) {
      return "sale";
    }
    return now.isEmpty() ? "other" : now.iterator().next();
  }

  @Override
  public Passage toServer(byte[] bytes) {
    ByteArrayOutputStream through = new ByteArrayOutputStream(bytes.length);
    boolean leaving = false;
    for (Message message : fromClient.add(bytes)) {
      note(message);
      if (recogniser.isCommit(message)) {
        phase = Phase.COMMIT;
        Fault fault = line.strike(subject(), Phase.COMMIT);
        if (fault == Fault.CUT_DURING_COMMIT) {
          through.writeBytes(Arrays.copyOf(message.bytes(), message.bytes().length / 2));
        }
        if (fault == Fault.CUT_BEFORE_COMMIT || fault == Fault.CUT_DURING_COMMIT) {
          over = true;
          return Passage.finishThenCut(through.toByteArray());
        }
        if (fault == Fault.SLOW_COMMIT) {
          through.writeBytes(SlowCommit.before(message));
          leaving = true;
        }
      }
      through.writeBytes(rewritten(message));
    }
    if (leaving) {
      over = true;
      return Passage.forwardThenLeave(through.toByteArray());
    }
    return Passage.forward(through.toByteArray());
  }

  private void note(Message message) {
    switch (message.type()) {
      case 'Q' -> {
        current.addAll(subjectsOf(message.strings(1).get(0)));
        phase = Phase.STATEMENT;
      }
      case 'P' -> {
        var nameAndSql = message.strings(2);
        statements.put(nameAndSql.get(0), subjectsOf(nameAndSql.get(1)));
      }
      case 'B' -> {
        Set<String> subjects = statements.get(message.strings(2).get(1));
        if (subjects != null) {
          current.addAll(subjects);
        }
        phase = phase == Phase.COMMIT ? phase : Phase.STATEMENT;
      }
      default -> {
        // Says nothing about the subject.
      }
    }
  }

  private static Set<String> subjectsOf(String sql) {
    Set<String> subjects = new TreeSet<>();
    Matcher table = TABLE.matcher(sql);
    while (table.find()) {
      String subject = SUBJECTS.get(table.group(1));
      if (subject != null) {
        subjects.add(subject);
      }
    }
    return subjects;
  }

  /** The message with its statement as the line rewrites it; the same if it does not. */
  private byte[] rewritten(Message message) {
    int strings = message.type() == 'P' ? 2 : message.type() == 'Q' ? 1 : 0;
    if (strings == 0 || !line.rewrites()) {
      return message.bytes();
    }
    var texts = message.strings(strings);
    String sql = texts.get(strings - 1);
    String other = line.rewrite(sql);
    if (other.equals(sql)) {
      return message.bytes();
    }
    byte[] all = message.bytes();
    byte[] name =
        strings == 2 ? (texts.get(0) + "\0").getBytes(StandardCharsets.UTF_8) : new byte[0];
    int oldLength = sql.getBytes(StandardCharsets.UTF_8).length;
    byte[] tail = Arrays.copyOfRange(all, 5 + name.length + oldLength, all.length);
    byte[] text = other.getBytes(StandardCharsets.UTF_8);
    int length = 4 + name.length + text.length + tail.length;
    return ByteBuffer.allocate(1 + length)
        .put(message.type())
        .putInt(length)
        .put(name)
        .put(text)
        .put(tail)
        .array();
  }

  @Override
  public Passage toClient(byte[] bytes) {
    ByteArrayOutputStream through = new ByteArrayOutputStream(bytes.length);
    for (Message message : fromServer.add(bytes)) {
      if (message.type() == 'C' && message.strings(1).get(0).equals("COMMIT")) {
        phase = Phase.COMMITTED;
        if (line.strike(subject(), Phase.COMMITTED) != null) {
          over = true;
          return Passage.finishThenCut(through.toByteArray());
        }
      } else if (message.type() == 'Z') {
        boolean open = message.bytes()[5] != 'I';
        phase = open ? Phase.OPEN : Phase.IDLE;
        if (!open) {
          current.clear();
        }
      }
      through.writeBytes(message.bytes());
    }
    return Passage.forward(through.toByteArray());
  }

  @Override
  public void serverDone() {
    over = true;
    line.gone(this);
  }
}
