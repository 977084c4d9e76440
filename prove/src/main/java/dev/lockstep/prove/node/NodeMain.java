package dev.lockstep.prove.node;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.prove.history.Fields;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The main class of a node. Reads calls from standard input, one per line, and runs each on a
 * thread of its own. It ends when its input does, so it dies with its driver.
 */
public final class NodeMain {
  /** Referenced, because java.util.logging forgets the level of unreferenced loggers. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private static final int ORDERLY = 0;
  private static final int FAILED = 1;

  private NodeMain() {}

  public static void main(String[] args) throws IOException {
    DRIVER_LOG.setLevel(Level.OFF);
    Pipe pipe =
        new Pipe(
            new PrintStream(
                new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8));
    // Nothing else may write into the pipe.
    System.setOut(System.err);
    ExecutorService threads =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "call");
              thread.setDaemon(true);
              return thread;
            });
    Blocks blocks = start(NodeSettings.parse(args), pipe);
    Map<String, Verb> verbs = blocks.verbs();
    pipe.tell("ready", Fields.NONE);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", 3);
      if (words[0].equals("!")) {
        pipe.replied(Long.parseLong(words[1]), Fields.parse(words[2]));
      } else if (words[1].equals("leave")) {
        threads.execute(
            () -> {
              blocks.close();
              Runtime.getRuntime().halt(ORDERLY);
            });
      } else {
        threads.execute(() -> pipe.answer(words[0], run(verbs, words[1], Fields.parse(words[2]))));
      }
    }
    Runtime.getRuntime().halt(ORDERLY);
  }

  /** Without its database a node cannot start; its driver starts another. */
  private static Blocks start(NodeSettings settings, Pipe pipe) {
    try {
      return new Blocks(settings, pipe);
    } catch (RuntimeException e) {
      System.err.println("The node cannot start: " + said(e));
      Runtime.getRuntime().halt(FAILED);
      throw e;
    }
  }

  private static Answer run(Map<String, Verb> verbs, String name, Fields fields) {
    Verb verb = verbs.get(name);
    if (verb == null) {
      return Answer.failed("no verb " + name);
    }
    try {
      return verb.run(fields);
    } catch (OutcomeUnknown e) {
      return Answer.unknown(said(e));
    } catch (LockstepException e) {
      return Answer.failed(said(e));
    } catch (Exception | Error e) {
      // No block may throw this, so the outcome is unknown.
      return Answer.unknown("unexpected " + said(e));
    }
  }

  private static String said(Throwable e) {
    Throwable cause = e.getCause() == null ? e : e.getCause();
    String text = e.getClass().getSimpleName() + ": " + e.getMessage() + " / " + cause;
    return text.length() > 400 ? text.substring(0, 400) : text;
  }
}
