package dev.lockstep.spring.boot;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.lockstep.spring.JsonCodec;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** JSON as the application's mapper reads and writes it. */
final class JacksonCodec implements JsonCodec {
  private final ObjectMapper mapper;
  private final ObjectWriter writer;

  JacksonCodec(ObjectMapper mapper) {
    this.mapper = mapper;
    this.writer = mapper.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);
  }

  @Override
  public @Nullable Object read(String json, Type type) throws JsonProcessingException {
    return mapper.readValue(json, mapper.constructType(type));
  }

  @Override
  public String write(@Nullable Object value) throws JsonProcessingException {
    return writer.writeValueAsString(value);
  }
}
