package dev.lockstep.server.setting;

import dev.lockstep.server.setting.ConfigFile.Line;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The sources of values: flags, then the environment, then the file named by {@code --config} or
 * {@code LOCKSTEP_CONFIG}. An empty variable counts as unset; an empty flag, or an empty value in
 * the file, is an error. Immutable.
 */
public final class Sources {
  public static final String CONFIG_FLAG = "--config";
  public static final String CONFIG_VARIABLE = "LOCKSTEP_CONFIG";

  /** No sources. */
  public static final Sources NONE = of(Map.of(), Map.of());

  /** Valid, but not settings: the file's name, and names for the script, tests or old releases. */
  private static final Set<String> ELSEWHERE =
      Set.of(
          CONFIG_VARIABLE,
          "LOCKSTEP_TERMINAL",
          "LOCKSTEP_CHROMIUM",
          "LOCKSTEP_PGBOUNCER",
          "LOCKSTEP_PROMETHEUS",
          "LOCKSTEP_REDIS_URL");

  /** Kubernetes sets these in every pod if a Service's name begins with lockstep. */
  private static final Pattern OF_KUBERNETES =
      Pattern.compile(
          "LOCKSTEP_(\\w+_)?(SERVICE_HOST|SERVICE_PORT(_\\w+)?|PORT_\\d+_(TCP|UDP|SCTP)(_\\w+)?)");

  private final Map<String, String> flags;
  private final Map<String, String> environment;
  private final @Nullable ConfigFile file;

  private Sources(
      Map<String, String> flags, Map<String, String> environment, @Nullable ConfigFile file) {
    this.flags = Map.copyOf(flags);
    this.environment = Map.copyOf(environment);
    this.file = file;
  }

  /**
   * Reads the file, if one is named.
   *
   * @param flags by name: {@code --pool-size}
   */
  public static Sources of(Map<String, String> flags, Map<String, String> environment) {
    String flag = flags.get(CONFIG_FLAG);
    String variable = environment.getOrDefault(CONFIG_VARIABLE, "");
    ConfigFile file = null;
    if (flag != null) {
      file = ConfigFile.read(CONFIG_FLAG, flag);
    } else if (!variable.isEmpty()) {
      file = ConfigFile.read(CONFIG_VARIABLE, variable);
    }
    return new Sources(flags, environment, file);
  }

  /**
   * Parses {@code --name value} and {@code --name=value}.
   *
   * @throws WrongSettings for anything else, and for a repeated flag
   */
  public static Map<String, String> flags(List<String> arguments) {
    Map<String, String> flags = new HashMap<>();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      if (!name.matches("--[^-].*")) {
        // Not repeated: a value that has lost its flag may be a secret.
        throw new WrongSettings(
            List.of("argument %d is not a flag; flags are --name value".formatted(i + 1)));
      }
      boolean beside = equals < 0 && i + 1 < arguments.size();
      if (equals < 0 && (!beside || arguments.get(i + 1).startsWith("--"))) {
        throw new WrongSettings(List.of(Shown.of(name) + " needs a value"));
      }
      String value = equals < 0 ? arguments.get(++i) : argument.substring(equals + 1);
      if (flags.put(name, value) != null) {
        throw new WrongSettings(List.of(Shown.of(name) + " is set twice"));
      }
    }
    return flags;
  }

  /** Reads an environment variable that is not a setting, such as HOME. */
  public Optional<String> environment(String variable) {
    return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
  }

  /**
   * A value as written.
   *
   * @param source a short name of its origin
   * @param subject how a complaint begins
   */
  record Given(String value, String source, String subject) {}

  Optional<Given> find(Setting setting) {
    String flag = setting.flag().orElse(null);
    if (flag != null && flags.containsKey(flag)) {
      return Optional.of(new Given(flags.getOrDefault(flag, ""), flag, flag));
    }
    String variable = setting.variable();
    Optional<String> fromEnvironment = environment(variable);
    if (fromEnvironment.isPresent()) {
      return Optional.of(new Given(fromEnvironment.get(), variable, variable));
    }
    Line line = file == null ? null : file.lines().get(setting.name());
    return line == null || file == null
        ? Optional.empty()
        : Optional.of(
            new Given(line.value(), file.place(line), setting.name() + " in " + file.place(line)));
  }

  /** Problems of the sources themselves: an unreadable file, an unknown name. */
  List<String> problems(Collection<Setting> known) {
    List<String> problems = new ArrayList<>();
    if (file != null) {
      problems.addAll(file.problems());
      List<String> names = known.stream().map(Setting::name).toList();
      file.lines().entrySet().stream()
          .filter(entry -> !names.contains(entry.getKey()))
          .sorted((a, b) -> Integer.compare(a.getValue().number(), b.getValue().number()))
          .forEach(
              entry ->
                  problems.add(
                      unknown(entry.getKey(), " in " + file.place(entry.getValue()), names)));
    }
    List<String> variables = known.stream().map(Setting::variable).toList();
    environment.keySet().stream()
        .filter(name -> name.startsWith(Setting.PREFIX) && !ELSEWHERE.contains(name))
        .filter(name -> !variables.contains(name) && !isOfKubernetes(name))
        .sorted()
        .forEach(name -> problems.add(unknown(name, " in the environment", variables)));
    List<String> allFlags = new ArrayList<>(List.of(CONFIG_FLAG));
    known.forEach(setting -> setting.flag().ifPresent(allFlags::add));
    flags.keySet().stream()
        .filter(name -> !allFlags.contains(name))
        .sorted()
        .forEach(name -> problems.add(unknownFlag(name, known, allFlags)));
    return problems;
  }

  /** Valid, but hardly intended. */
  List<String> warnings(Collection<Setting> known) {
    List<String> warnings = new ArrayList<>();
    if (file != null && file.open()) {
      known.stream()
          .filter(setting -> setting.secret() && file.lines().containsKey(setting.name()))
          .map(Setting::name)
          .reduce((a, b) -> a + ", " + b)
          .ifPresent(
              names ->
                  warnings.add(
                      "%s holds secrets (%s) and every user of this machine can read it; chmod 600 it"
                          .formatted(file.shown(), names)));
    }
    if (environment("LOCKSTEP_REDIS_URL").isPresent()) {
      warnings.add("LOCKSTEP_REDIS_URL is set, and this release has no use for it");
    }
    return warnings;
  }

  private boolean isOfKubernetes(String name) {
    return OF_KUBERNETES.matcher(name).matches()
        || (name.endsWith("_PORT") && environment.getOrDefault(name, "").matches("(tcp|udp)://.*"));
  }

  private static String unknownFlag(String flag, Collection<Setting> known, List<String> flags) {
    return known.stream()
        .filter(setting -> setting.secret() && Setting.flag(setting.name()).equals(flag))
        .findFirst()
        .map(
            setting ->
                "%s is no flag, because other users of a machine can read a process's arguments; set %s instead"
                    .formatted(flag, setting.variable()))
        .orElseGet(() -> unknown(flag, "", flags));
  }

  private static String unknown(String name, String where, List<String> known) {
    String shown = Shown.of(name);
    return "unknown setting '%s'%s%s"
        .formatted(
            shown,
            where,
            NearestName.of(shown, known)
                .map(near -> "; did you mean '%s'?".formatted(near))
                .orElse("; ./lockstep settings lists all"));
  }
}
