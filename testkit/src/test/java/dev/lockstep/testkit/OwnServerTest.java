package dev.lockstep.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class OwnServerTest {

  @RegisterExtension static final TestDatabase own = TestDatabase.ownServer(true);

  @Test
  void aServerOfItsOwnCanBeCrashedAndThePoolRecovers() {
    own.execute("INSERT INTO lockstep.probe VALUES (7)");
    own.server().crash();
    own.server().restart();
    assertThat(own.queryLong("SELECT id FROM lockstep.probe")).isEqualTo(7);
  }
}
