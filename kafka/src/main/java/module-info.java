/** Kafka as a sink of the outbox, fenced at the broker. */
module dev.lockstep.kafka {
  requires transitive dev.lockstep.core;
  requires kafka.clients;
  requires org.slf4j;
  requires static org.jspecify;

  exports dev.lockstep.kafka;
}
