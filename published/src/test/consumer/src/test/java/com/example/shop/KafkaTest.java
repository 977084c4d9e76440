package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.lockstep.broker.KafkaBroker;
import dev.lockstep.kafka.KafkaConfig;
import dev.lockstep.kafka.KafkaSink;
import dev.lockstep.outbox.SinkTypes;
import org.junit.jupiter.api.Test;

class KafkaTest {
  @Test
  void kafkaAndABrokerForTestsAreThere() {
    try (KafkaBroker broker = KafkaBroker.start()) {
      SinkTypes types =
          SinkTypes.standard()
              .with(KafkaSink.TYPE, KafkaSink.on(KafkaConfig.of(broker.bootstrapServers(), "shop")));
      assertEquals(true, types.toString() != null);
      assertEquals("0 3 * * *", Shop.nightly());
    }
  }
}
