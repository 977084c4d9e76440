package dev.lockstep.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.kafka.KafkaTarget.Format;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.testkit.TestDatabase;
import io.cloudevents.CloudEvent;
import io.cloudevents.kafka.KafkaMessageFactory;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records that CloudEvents' own library reads. */
class CloudEventsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Stage stage = new Stage(database);

  @ParameterizedTest
  @EnumSource(
      value = Format.class,
      names = {"CLOUDEVENTS", "CLOUDEVENTS_STRUCTURED"})
  void aRecordIsReadAsTheEventThatWasAppended(Format format) {
    stage.define(format, Map.of());
    Outbox outbox = stage.outbox();
    String key = "portfolio 7 ü";
    String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    NewEvent event =
        NewEvent.of(stage.stream, key, "trade.booked", Content.json("{\"n\":1.50}"))
            .withHeader("region", "eu")
            .withHeader("ce_subject", "another")
            .withHeader("Content-Type", "text/html")
            .withTraceParent(trace);
    stage.transactor().run(connection -> outbox.append(connection, event));
    stage.start(Stage.kafka());

    ConsumerRecord<byte[], byte[]> record = awaitOne();
    Event appended = outbox.events(stage.stream, key, 0, 1).get(0);
    CloudEvent read = KafkaMessageFactory.createReader(record).toEvent();

    assertThat(new String(record.key(), StandardCharsets.UTF_8)).isEqualTo(key);
    assertThat(read.getSpecVersion()).hasToString("1.0");
    assertThat(read.getId()).isEqualTo(Long.toString(appended.id()));
    assertThat(read.getSource()).hasToString(stage.stream);
    assertThat(read.getType()).isEqualTo("trade.booked");
    assertThat(read.getSubject()).isEqualTo(key);
    assertThat(read.getExtension("sequence")).isEqualTo("0000000000000000001");
    assertThat(read.getExtension("traceparent")).isEqualTo(trace);
    assertThat(read.getTime())
        .isEqualTo(OffsetDateTime.ofInstant(appended.appendedAt(), ZoneOffset.UTC));
    assertThat(read.getDataContentType()).isEqualTo("application/json");
    assertThat(new String(Objects.requireNonNull(read.getData()).toBytes(), StandardCharsets.UTF_8))
        .isIn("{\"n\":1.50}", "{\"n\":1.5}");
    assertThat(header(record, "region")).isEqualTo("eu");
    assertThat(record.headers().headers("content-type")).hasSize(1);
  }

  @Test
  void settingsNameATopicAndAFormat() {
    for (Format format : Format.values()) {
      KafkaTarget target = new KafkaTarget("trades.v1", format);
      assertThat(KafkaTarget.parse(target.settings())).isEqualTo(target);
    }
    assertThat(KafkaTarget.parse("trades")).isEqualTo(new KafkaTarget("trades", Format.PLAIN));
    assertThat(new KafkaTarget("trades", Format.PLAIN).settings()).isEqualTo("trades");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "..", "a b", "a?format=", "a?format=avro", "?format=plain", "a?b"})
  void settingsThatMakeNoSenseAreRefused(String settings) {
    assertThatThrownBy(() -> KafkaTarget.parse(settings))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private ConsumerRecord<byte[], byte[]> awaitOne() {
    Stage.until("published", () -> !records().isEmpty());
    return records().get(0);
  }

  private List<ConsumerRecord<byte[], byte[]>> records() {
    return Published.records(Stage.broker().bootstrapServers(), stage.topic);
  }

  private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }
}
