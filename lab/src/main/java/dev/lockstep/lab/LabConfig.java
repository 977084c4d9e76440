package dev.lockstep.lab;

import java.util.Map;

/**
 * Where the lab creates its database. The user must be allowed to create roles and databases, and
 * the connection must be direct, not through a pooler, because the lab identifies sessions by their
 * backend process.
 *
 * @param url the JDBC URL of any database of that server, possibly with credentials
 * @param properties further driver properties, such as user and password
 */
public record LabConfig(String url, Map<String, String> properties) {
  public LabConfig {
    properties = Map.copyOf(properties);
  }

  /** Leaves out the URL, which may contain a password. */
  @Override
  public String toString() {
    return "LabConfig";
  }
}
