package dev.lockstep.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The build runs these tests on several servers, and says on which: it must be true. */
class PostgresVersionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String PROPERTY = "lockstep.test.postgres";

  @Test
  @EnabledIfSystemProperty(named = PROPERTY, matches = "\\d+")
  void theServerIsTheOneTheBuildNamed() {
    long major = database.queryLong("SELECT current_setting('server_version_num')::int / 10000");

    assertThat(major).isEqualTo(Long.parseLong(System.getProperty(PROPERTY, "0")));
  }
}
