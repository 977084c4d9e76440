package dev.lockstep.kafka;

import dev.lockstep.outbox.CloudEvent;
import dev.lockstep.outbox.Event;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Makes the records of one transaction in the sink's format. For one thread. */
final class Records {
  /** The prefix of CloudEvents' own headers; an event's header with this prefix is dropped. */
  private static final String ATTRIBUTE = "ce_";

  private final KafkaTarget target;
  private final Repeated stream = new Repeated(KafkaSink.STREAM_HEADER);
  private final Repeated type = new Repeated(KafkaSink.TYPE_HEADER);
  private final Repeated contentType = new Repeated(KafkaSink.CONTENT_TYPE_HEADER);

  Records(KafkaTarget target) {
    this.target = target;
  }

  ProducerRecord<byte[], byte[]> of(Event event) {
    return switch (target.format()) {
      case PLAIN -> plain(event);
      case CLOUDEVENTS -> binary(event);
      case CLOUDEVENTS_STRUCTURED -> structured(event);
    };
  }

  private ProducerRecord<byte[], byte[]> plain(Event event) {
    ProducerRecord<byte[], byte[]> record = record(event, event.content().bytes());
    Headers headers = record.headers();
    headers.add(stream.with(event.stream()));
    headers.add(KafkaSink.SEQ_HEADER, bytes(Long.toString(event.seq())));
    headers.add(type.with(event.type()));
    headers.add(KafkaSink.ID_HEADER, bytes(Long.toString(event.id())));
    if (!event.headers().containsKey(KafkaSink.CONTENT_TYPE_HEADER)) {
      headers.add(contentType.with(event.content().type()));
    }
    event.headers().forEach((name, value) -> headers.add(name, bytes(value)));
    return record;
  }

  private ProducerRecord<byte[], byte[]> binary(Event event) {
    ProducerRecord<byte[], byte[]> record = record(event, event.content().bytes());
    event
        .asCloudEvent()
        .attributes()
        .forEach((name, value) -> record.headers().add(ATTRIBUTE + name, bytes(value)));
    return withContentType(record, event, event.content().type());
  }

  private ProducerRecord<byte[], byte[]> structured(Event event) {
    return withContentType(
        record(event, event.asCloudEvent().structured()), event, CloudEvent.STRUCTURED);
  }

  /** Adds the event's own headers, except those that would contradict the format's. */
  private ProducerRecord<byte[], byte[]> withContentType(
      ProducerRecord<byte[], byte[]> record, Event event, String type) {
    record.headers().add(contentType.with(type));
    event
        .headers()
        .forEach(
            (name, value) -> {
              String lower = name.toLowerCase(Locale.ROOT);
              if (!lower.startsWith(ATTRIBUTE) && !lower.equals(KafkaSink.CONTENT_TYPE_HEADER)) {
                record.headers().add(name, bytes(value));
              }
            });
    return record;
  }

  private ProducerRecord<byte[], byte[]> record(Event event, byte[] value) {
    return new ProducerRecord<>(
        target.topic(), null, event.appendedAt().toEpochMilli(), bytes(event.key()), value);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Reuses the previous record's header, which is usually the same. */
  private static final class Repeated {
    private final String name;
    private Text last;

    Repeated(String name) {
      this.name = name;
      this.last = new Text(name, "");
    }

    Header with(String text) {
      if (!last.text.equals(text)) {
        last = new Text(name, text);
      }
      return last;
    }
  }

  private static final class Text implements Header {
    private final String name;
    private final String text;
    private final byte[] value;

    Text(String name, String text) {
      this.name = name;
      this.text = text;
      this.value = bytes(text);
    }

    @Override
    public String key() {
      return name;
    }

    @Override
    public byte[] value() {
      return value;
    }
  }
}
