package dev.lockstep.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.outbox.SinkSpec;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What can be set, and what cannot. */
class KafkaConfigTest {
  private static final KafkaConfig CONFIG = KafkaConfig.of("127.0.0.1:9092", "shop");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "transactional.id",
        "enable.idempotence",
        "acks",
        "max.in.flight.requests.per.connection",
        "partitioner.ignore.keys",
        "partitioner.class"
      })
  void whatOrderRestsOnCannotBeSet(String name) {
    assertThatThrownBy(() -> CONFIG.withProducer(name, "1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
  }

  @Test
  void whatElseAProducerKnowsCanBeSet() {
    assertThat(CONFIG.withProducer("compression.type", "lz4").settings("id"))
        .containsEntry("compression.type", "lz4")
        .containsEntry("transactional.id", "id")
        .containsEntry("acks", "all");
  }

  @Test
  void noTwoPlacesShareATransactionalId() {
    assertThat(CONFIG.transactionalId("a/b", "c", 1))
        .isNotEqualTo(CONFIG.transactionalId("a", "b/c", 1));
    assertThat(CONFIG.transactionalId("a", "b", 1))
        .isNotEqualTo(CONFIG.transactionalId("a", "b", 2))
        .isNotEqualTo(KafkaConfig.of("127.0.0.1:9092", "bank").transactionalId("a", "b", 1));
  }

  @Test
  void limitsHoldAtTheirEdges() {
    assertThat(CONFIG.withTimeout(Duration.ofMinutes(10)).timeout()).hasMinutes(10);
    assertThatThrownBy(() -> CONFIG.withTimeout(Duration.ofMinutes(10).plusMillis(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> CONFIG.withTimeout(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(KafkaConfig.of("a:1", "n".repeat(100)).namespace()).hasSize(100);
    assertThatThrownBy(() -> KafkaConfig.of("a:1", "n".repeat(101)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> KafkaConfig.of(" ", "n")).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a b", "a/b", "ü"})
  void aTopicThatKafkaWouldRefuseIsRefused(String topic) {
    assertThatThrownBy(
            () -> KafkaSink.on(CONFIG).create("s", SinkSpec.of("k", KafkaSink.TYPE, topic)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("topic");
  }
}
