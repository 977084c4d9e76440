package dev.lockstep.prove.history;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Draws a history as one self-contained HTML page. */
public final class Timeline {
  private static final int WIDTH = 1_600;
  private static final int ROW = 26;
  private static final int LEFT = 90;

  private static final String STYLE =
      """
      :root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#68707a;--line:#d8dde3;
        --ok:#2f8f4e;--refused:#b07a00;--failed:#8a929c;--unknown:#c2384a}
      @media (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e9ed;--dim:#949ca6;
        --line:#2c323a;--ok:#4cbf72;--refused:#e0a92e;--failed:#737c87;--unknown:#f06a7c}}
      body{background:var(--bg);color:var(--fg);font:14px/1.5 system-ui,sans-serif;margin:24px}
      pre{white-space:pre-wrap}.scroll{overflow-x:auto;border:1px solid var(--line)}
      svg text{fill:var(--fg);font:11px system-ui,sans-serif}svg .dim{fill:var(--dim)}
      svg line{stroke:var(--line)}rect{rx:3}
      .OK{fill:var(--ok)}.REFUSED{fill:var(--refused)}.FAILED{fill:var(--failed)}
      .UNKNOWN{fill:var(--unknown)}
      table{border-collapse:collapse;width:100%;margin-top:16px}
      td,th{border-bottom:1px solid var(--line);padding:3px 8px;text-align:left;vertical-align:top}
      td{font:12px ui-monospace,monospace;overflow-wrap:anywhere}
      """;

  private Timeline() {}

  /**
   * The page.
   *
   * @param heading one line
   * @param facts lines below it
   */
  public static String page(String heading, List<String> facts, History history) {
    StringBuilder page = new StringBuilder();
    page.append("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width\"><title>")
        .append(escaped(heading))
        .append("</title><style>")
        .append(STYLE)
        .append("</style>\n<h1>")
        .append(escaped(heading))
        .append("</h1>\n<pre>")
        .append(escaped(String.join("\n", facts)))
        .append("</pre>\n<div class=\"scroll\">");
    draw(history, page);
    page.append("</div>\n<table><tr><th>call<th>client<th>node<th>ms<th>what<th>answer</tr>\n");
    long origin = origin(history);
    for (Op op : history.ops()) {
      page.append(
          "<tr><td>%d<td>%d<td>%d<td>%s<td>%s(%s)<td>%s %s</tr>%n"
              .formatted(
                  op.id(),
                  op.client(),
                  op.node(),
                  span(op, origin),
                  escaped(op.kind()),
                  escaped(op.args().toString()),
                  op.status(),
                  escaped(op.result().toString())));
    }
    return page.append("</table></html>\n").toString();
  }

  private static String span(Op op, long origin) {
    String from = String.format(Locale.ROOT, "%.2f", (op.start() - origin) / 1e6);
    return op.end() == Op.NEVER
        ? from + " – ?"
        : from + String.format(Locale.ROOT, " – %.2f", (op.end() - origin) / 1e6);
  }

  private static long origin(History history) {
    return history.ops().stream().mapToLong(Op::start).min().orElse(0);
  }

  private static void draw(History history, StringBuilder page) {
    Map<Integer, Integer> rows = new TreeMap<>();
    history.ops().forEach(op -> rows.put(op.client(), 0));
    int next = 0;
    for (Map.Entry<Integer, Integer> row : rows.entrySet()) {
      row.setValue(next++);
    }
    long from = origin(history);
    long to =
        history.ops().stream()
            .mapToLong(op -> op.end() == Op.NEVER ? op.start() : op.end())
            .max()
            .orElse(1);
    double scale = (WIDTH - LEFT - 20) / (double) Math.max(1, to - from);
    page.append("<svg width=\"%d\" height=\"%d\" role=\"img\">".formatted(WIDTH, next * ROW + 20));
    rows.forEach(
        (client, row) ->
            page.append(
                "<text class=\"dim\" x=\"4\" y=\"%d\">%s</text><line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
                    .formatted(
                        row * ROW + 20,
                        client < 0 ? "nodes" : "client " + client,
                        LEFT,
                        WIDTH,
                        row * ROW + 24,
                        row * ROW + 24)));
    for (Op op : history.ops()) {
      double x = LEFT + (op.start() - from) * scale;
      double end = LEFT + ((op.end() == Op.NEVER ? to : op.end()) - from) * scale;
      page.append(
          String.format(
              Locale.ROOT,
              "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"16\"><title>%s</title></rect>",
              op.status(),
              x,
              rows.getOrDefault(op.client(), 0) * ROW + 6,
              Math.max(2, end - x),
              escaped(op.toString())));
    }
    page.append("</svg>");
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
