package dev.lockstep.lab;

import java.util.Map;

/**
 * Where the lab may make its database: a user that can create roles and databases, reached directly
 * and not through a pooler, since the lab looks sessions up by their process.
 *
 * @param url the JDBC URL of any database of that server, possibly with credentials
 * @param properties what the driver is told beside it, user and password for instance
 */
public record LabConfig(String url, Map<String, String> properties) {
  public LabConfig {
    properties = Map.copyOf(properties);
  }

  /** Without the address, which may carry a password. */
  @Override
  public String toString() {
    return "LabConfig";
  }
}
