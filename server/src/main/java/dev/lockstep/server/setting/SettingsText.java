package dev.lockstep.server.setting;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Settings as text and JSON. Never contains a secret. */
public final class SettingsText {
  private static final int NAME_WIDTH = 25;
  private static final int VALUE_WIDTH = 22;

  private SettingsText() {}

  /** Two lines per setting: value and source, then default and meaning. */
  public static String plain(List<SettingValue> values) {
    StringBuilder text = new StringBuilder();
    String group = "";
    for (SettingValue value : values) {
      Setting setting = value.setting();
      if (!setting.group().equals(group)) {
        group = setting.group();
        text.append(text.isEmpty() ? "" : "\n").append(group).append('\n');
      }
      text.append(
              "  %s %s %s%n"
                  .formatted(
                      padded(setting.name(), NAME_WIDTH),
                      padded(value.shown(), VALUE_WIDTH),
                      value.source()))
          .append("      ")
          .append(setting.meaning())
          .append(" Default: ")
          .append(setting.otherwise())
          .append(".\n");
    }
    return text.toString();
  }

  /** One JSON object. */
  public static String json(List<SettingValue> values) {
    JsonArray all = new JsonArray();
    for (SettingValue value : values) {
      Setting setting = value.setting();
      boolean set = !value.isDefault();
      all.add(
          new JsonObject()
              .put("name", setting.name())
              .put("group", setting.group())
              .put("value", shownOrNull(value))
              .put("set", set)
              .put("source", value.source())
              .put("default", setting.otherwise())
              .put("allowed", setting.kind().allowed())
              .put("meaning", setting.meaning())
              .put("secret", setting.secret())
              .put("variable", setting.variable())
              .put("flag", setting.flag().orElse(null)));
    }
    return new JsonObject().put("settings", all).encode() + "\n";
  }

  private static @Nullable String shownOrNull(SettingValue value) {
    boolean nothing = value.setting().secret() || value.shown().equals(SettingValue.UNSET);
    return nothing ? null : value.shown();
  }

  /** The usage of a command that takes settings, with the common ones. */
  public static String help(String usage, List<SettingValue> values, Set<String> common) {
    StringBuilder text = new StringBuilder("Usage: " + usage + "\n\n");
    for (SettingValue value : values) {
      Setting setting = value.setting();
      if (common.contains(setting.name())) {
        text.append(
            "  %s %s%n"
                .formatted(
                    padded(setting.flag().orElse(setting.variable()), NAME_WIDTH),
                    setting.meaning()));
      }
    }
    return text.append(
            """

            Every setting can be a flag, a variable or a line of the file that --config names; a flag wins over
            a variable, a variable over the file. Secrets have no flag. ./lockstep settings lists all %d.
            """
                .formatted(values.size()))
        .toString();
  }

  /** The documentation page. */
  public static String markdown(List<SettingValue> defaults) {
    StringBuilder text =
        new StringBuilder(
            """
            # Settings

            <!-- Written by `./lockstep settings --markdown`; a test compares it with the table in the code. -->

            Every setting can be a flag of `./lockstep up`, an environment variable, or a line of a file:

            ```properties
            # lockstep.properties
            port = 8080
            pool.size = 40
            ```

            ```sh
            ./lockstep up --config lockstep.properties --port 9090
            LOCKSTEP_CONFIG=lockstep.properties ./lockstep settings
            ```

            A flag wins over its variable, a variable over the file, the file over the default. `pool.size` is
            `LOCKSTEP_POOL_SIZE` and `--pool-size`: upper case with underscores, or hyphens. `./lockstep settings` prints
            every value and where it came from; `--json` prints one object. It takes the same flags as `up`.

            - A name that is not known is refused, with the nearest one that is: in the file, as a flag, and as a variable that
              begins with `LOCKSTEP_`. So is a value out of bounds, and two that do not fit together. The exit code is 2.
            - The file is UTF-8, one `name = value` per line; lines that begin with `#` or `!` are comments. Nothing is
              escaped: a backslash is a backslash. A name stands there once.
            - A **secret** has no flag, because other users of a machine can read a process's arguments. It is never printed. A
              file with a secret in it that every user can read gets a warning.
            - Times are written `250ms`, `3s`, `15m`, `24h`, `7d`; sizes `512`, `64k`, `1m`, `2g`, in powers of 1,024.
            - Variables that Kubernetes makes for a Service named `lockstep…` are passed over, but `LOCKSTEP_PORT` among them
              is not a port: name the Service otherwise, or set `enableServiceLinks: false`.
            """);
    String group = "";
    for (SettingValue value : defaults) {
      Setting setting = value.setting();
      if (!setting.group().equals(group)) {
        group = setting.group();
        text.append("\n## ").append(group).append("\n\n");
        text.append("| Name | Variable | Default | Meaning |\n|---|---|---|---|\n");
      }
      text.append(
          "| `%s` | `%s` | %s | %s%s Allowed: %s. |%n"
              .formatted(
                  setting.name(),
                  setting.variable(),
                  setting.otherwise(),
                  setting.secret() ? "**Secret.** " : "",
                  setting.meaning(),
                  setting.kind().allowed()));
    }
    return text.toString();
  }

  private static String padded(String text, int width) {
    return text.length() >= width ? text : text + " ".repeat(width - text.length());
  }
}
