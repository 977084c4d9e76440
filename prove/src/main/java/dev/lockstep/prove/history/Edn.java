package dev.lockstep.prove.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes list-append transactions as Elle reads them. */
public final class Edn {
  private Edn() {}

  /** One invocation and one completion for each call, in the order of time. */
  public static String listAppend(History history) {
    record Line(long at, String text) {}
    List<Line> lines = new ArrayList<>();
    // Elle expects a new process number after a crash.
    Map<Integer, Integer> crashes = new HashMap<>();
    for (Op op : history.ops()) {
      if (!op.is("tx.lists") && !op.is("final.lists")) {
        continue;
      }
      int crashed = crashes.getOrDefault(op.client(), 0);
      int process = (op.client() + 3) * 10_000 + crashed;
      lines.add(new Line(op.start(), line("invoke", process, op, false)));
      String type =
          switch (op.status()) {
            case OK -> "ok";
            case FAILED, REFUSED -> "fail";
            case UNKNOWN -> "info";
          };
      if (op.unknown()) {
        crashes.put(op.client(), crashed + 1);
      }
      lines.add(new Line(op.end(), line(type, process, op, op.ok())));
    }
    lines.sort((a, b) -> Long.compare(a.at(), b.at()));
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines.size(); i++) {
      text.append("{:index ").append(i).append(", ").append(lines.get(i).text()).append("}\n");
    }
    return text.toString();
  }

  private static String line(String type, int process, Op op, boolean withReads) {
    List<String> steps = new ArrayList<>();
    List<String> reads = withReads ? new ArrayList<>(op.result().parts("reads", ",")) : List.of();
    int next = 0;
    for (String step : op.args().parts("steps", ",")) {
      String[] parts = step.split("\\.", -1);
      if (parts[0].equals("a")) {
        steps.add("[:append " + parts[1] + " " + parts[2] + "]");
      } else if (withReads) {
        String items = reads.get(next++).split(":", -1)[1].replace('.', ' ');
        steps.add("[:r " + parts[1] + " [" + items + "]]");
      } else {
        steps.add("[:r " + parts[1] + " nil]");
      }
    }
    return ":type :%s, :f :txn, :process %d, :time %d, :value [%s]"
        .formatted(
            type, process, type.equals("invoke") ? op.start() : op.end(), String.join(" ", steps));
  }
}
