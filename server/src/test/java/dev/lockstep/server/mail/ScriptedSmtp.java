package dev.lockstep.server.mail;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An SMTP server of few words, which answers as a test wants. */
public final class ScriptedSmtp implements AutoCloseable {
  private final ServerSocket door;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Script script;
  private final Map<String, Integer> asked = new ConcurrentHashMap<>();
  private final List<String> taken = new CopyOnWriteArrayList<>();

  /** What to say of a recipient. */
  @FunctionalInterface
  public interface Script {
    /** A code of SMTP; 0: nothing, ever. */
    int answer(String recipient, int times);
  }

  public ScriptedSmtp(Script script) {
    this.script = script;
    try {
      door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.execute(this::welcome);
  }

  public int port() {
    return door.getLocalPort();
  }

  /** Answers on a connection that somebody else has accepted. */
  void take(Socket socket) {
    threads.execute(() -> converse(socket));
  }

  /** The ids of messages that were taken. */
  public List<String> taken() {
    return List.copyOf(taken);
  }

  /** How often a recipient was named. */
  public int asked(String recipient) {
    return asked.getOrDefault(recipient, 0);
  }

  private void welcome() {
    try {
      while (true) {
        Socket socket = door.accept();
        threads.execute(() -> converse(socket));
      }
    } catch (IOException e) {
      // Closed: that is the end.
    }
  }

  private void converse(Socket socket) {
    try (socket;
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        Writer out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8)) {
      say(out, 220, "ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String verb = line.substring(0, Math.min(4, line.length()));
        switch (verb) {
          case "RCPT" -> {
            String who = line.substring(line.indexOf('<') + 1, line.indexOf('>'));
            int code = script.answer(who, asked.merge(who, 1, Integer::sum));
            if (code > 0) {
              say(out, code, "so be it");
            }
          }
          case "DATA" -> {
            say(out, 354, "go on");
            read(in);
            say(out, 250, "taken");
          }
          case "QUIT" -> {
            say(out, 221, "bye");
            return;
          }
          default -> say(out, 250, "fine");
        }
      }
    } catch (IOException e) {
      // The other side is gone.
    }
  }

  private void read(BufferedReader in) throws IOException {
    for (String line = in.readLine(); line != null && !line.equals("."); line = in.readLine()) {
      if (line.startsWith("Message-ID: ")) {
        taken.add(line.substring("Message-ID: ".length()));
      }
    }
  }

  private static void say(Writer out, int code, String text) throws IOException {
    out.write(code + " " + text + "\r\n");
    out.flush();
  }

  @Override
  public void close() {
    try {
      door.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.shutdownNow();
  }
}
