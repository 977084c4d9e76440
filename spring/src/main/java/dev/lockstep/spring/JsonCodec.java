package dev.lockstep.spring;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes JSON: payloads of {@link JobHandler}s, answers of {@link Idempotent} methods.
 */
public interface JsonCodec {
  /** Parses JSON. */
  @Nullable Object read(String json, Type type) throws Exception;

  /**
   * Writes a value as JSON. Equal values give the same text, except for sets without an order: do
   * not use those in {@link Idempotent#request}.
   */
  String write(@Nullable Object value) throws Exception;

  /** For applications without a JSON library. */
  static JsonCodec none() {
    return new JsonCodec() {
      @Override
      public Object read(String json, Type type) {
        throw new IllegalStateException(
            "Nothing reads JSON as %s; add Jackson, or a bean of type JsonCodec".formatted(type));
      }

      @Override
      public String write(@Nullable Object value) {
        throw new IllegalStateException(
            "Nothing writes JSON; add Jackson, or a bean of type JsonCodec");
      }
    };
  }
}
