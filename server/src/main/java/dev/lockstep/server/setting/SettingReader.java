package dev.lockstep.server.setting;

import dev.lockstep.server.setting.Sources.Given;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads settings, and thereby declares them: every name read is in the table.
 *
 * <p>An invalid value is noted and its default returned, so that one run reports all errors; {@link
 * #finish} throws. Not thread-safe.
 */
public final class SettingReader {
  private final Sources sources;
  private final Map<String, SettingValue> values = new LinkedHashMap<>();
  private final List<String> problems = new ArrayList<>();
  private String group = "";

  public SettingReader(Sources sources) {
    this.sources = sources;
  }

  /** Sets the heading of the settings that follow. */
  public SettingReader group(String heading) {
    group = heading;
    return this;
  }

  /** Reads a value, or returns the default. */
  public <T> T read(String name, Kind<T> kind, T otherwise, String meaning) {
    return read(name, kind, otherwise, kind.write().apply(otherwise), meaning);
  }

  /**
   * The same, for a computed default.
   *
   * @param inWords the default in words
   */
  public <T> T read(String name, Kind<T> kind, T otherwise, String inWords, String meaning) {
    Setting setting = new Setting(name, group, kind, inWords, meaning, false);
    return find(setting, kind, kind.write(), kind.write().apply(otherwise)).orElse(otherwise);
  }

  /**
   * Reads a value without a default.
   *
   * @param unset what happens without it
   */
  public <T> Optional<T> readOptional(String name, Kind<T> kind, String unset, String meaning) {
    Setting setting = new Setting(name, group, kind, unset, meaning, false);
    return find(setting, kind, kind.write(), SettingValue.UNSET);
  }

  /** Reads a value that is never shown and has no flag. */
  public <T> Optional<T> readSecret(String name, Kind<T> kind, String unset, String meaning) {
    Setting setting = new Setting(name, group, kind, unset, meaning, true);
    return find(setting, kind, value -> SettingValue.HIDDEN, SettingValue.UNSET);
  }

  /**
   * Notes a problem unless a relation between two settings holds.
   *
   * @param relation such as "must not exceed"
   * @param why the reason
   */
  public void require(boolean holds, String first, String relation, String second, String why) {
    if (!holds) {
      problems.add("%s %s %s: %s".formatted(known(first), relation, known(second), why));
    }
  }

  /** Notes a problem. */
  public void problem(String sentence) {
    problems.add(sentence);
  }

  /** The source of a setting; empty for its default. */
  public Optional<String> source(String name) {
    SettingValue value = values.get(name);
    return value == null || value.isDefault() ? Optional.empty() : Optional.of(value.source());
  }

  /** Reads an environment variable that is not a setting, such as HOME. */
  public Optional<String> environment(String variable) {
    return sources.environment(variable);
  }

  /**
   * All settings in reading order.
   *
   * @throws WrongSettings if anything is wrong
   */
  public List<SettingValue> finish() {
    List<Setting> known = values.values().stream().map(SettingValue::setting).toList();
    List<String> all = new ArrayList<>(sources.problems(known));
    all.addAll(problems);
    if (!all.isEmpty()) {
      throw new WrongSettings(all);
    }
    return List.copyOf(values.values());
  }

  /** Wraps what a configuration record has refused. */
  public WrongSettings refused(IllegalArgumentException e) {
    // Problems noted before explain the same fault better.
    return new WrongSettings(
        problems.isEmpty()
            ? List.of("the settings do not fit together: " + e.getMessage())
            : problems);
  }

  /** Valid, but worth a warning. */
  public List<String> warnings() {
    return sources.warnings(values.values().stream().map(SettingValue::setting).toList());
  }

  private <T> Optional<T> find(
      Setting setting, Kind<T> kind, Function<T, String> show, String otherwise) {
    Given given = sources.find(setting).orElse(null);
    T value = given == null ? null : parse(setting, kind, given);
    SettingValue found =
        given == null || value == null
            ? new SettingValue(setting, otherwise, SettingValue.DEFAULT)
            : new SettingValue(setting, show.apply(value), given.source());
    if (values.put(setting.name(), found) != null) {
      throw new IllegalStateException(setting.name() + " is declared twice");
    }
    return Optional.ofNullable(value);
  }

  private <T> @Nullable T parse(Setting setting, Kind<T> kind, Given given) {
    if (given.value().isBlank()) {
      // An empty folder name would mean the current folder, which an unset shell variable hardly
      // intends.
      problems.add(given.subject() + " needs a value");
      return null;
    }
    try {
      return kind.parse().apply(given.value());
    } catch (NumberFormatException e) {
      problems.add(given.subject() + " must be " + kind.allowed() + not(setting, given));
    } catch (IllegalArgumentException e) {
      problems.add(
          given.subject()
              + " "
              + (e.getMessage() == null
                  ? "must be " + kind.allowed() + not(setting, given)
                  : e.getMessage()));
    }
    return null;
  }

  private static String not(Setting setting, Given given) {
    return setting.secret() ? "" : ", not '" + Shown.of(given.value()) + "'";
  }

  private String known(String name) {
    SettingValue value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + " was not read");
    }
    return "%s (%s, %s)".formatted(name, value.shown(), value.source());
  }
}
