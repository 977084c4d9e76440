package dev.lockstep.sql;

import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An array parameter, which carries a batch in one statement ({@code unnest}).
 *
 * @param type PostgreSQL's name of the element type
 * @param values the elements; may contain nulls
 */
@SuppressWarnings("ArrayRecordComponent") // A parameter on its way to the driver; never compared.
public record SqlArray(String type, @Nullable Object[] values) {

  /** One value of each item, for an array; on hot paths, where a stream would cost more. */
  public static <T, R extends @Nullable Object> List<R> column(
      Collection<T> items, Function<? super T, ? extends R> value) {
    List<R> values = new ArrayList<>(items.size());
    items.forEach(item -> values.add(value.apply(item)));
    return values;
  }

  public static SqlArray bigints(Collection<? extends @Nullable Long> values) {
    return new SqlArray("int8", values.toArray(Long[]::new));
  }

  public static SqlArray smallints(Collection<Short> values) {
    return new SqlArray("int2", values.toArray(Short[]::new));
  }

  public static SqlArray integers(Collection<Integer> values) {
    return new SqlArray("int4", values.toArray(Integer[]::new));
  }

  public static SqlArray booleans(Collection<Boolean> values) {
    return new SqlArray("bool", values.toArray(Boolean[]::new));
  }

  public static SqlArray texts(Collection<? extends @Nullable String> values) {
    return new SqlArray("text", values.toArray(String[]::new));
  }

  public static SqlArray uuids(Collection<? extends @Nullable UUID> values) {
    return new SqlArray("uuid", values.toArray(UUID[]::new));
  }

  public static SqlArray ctids(Collection<? extends @Nullable Ctid> values) {
    return new SqlArray("tid", values.toArray(Ctid[]::new));
  }

  /** Creates the array for a statement on this connection. */
  Array on(Connection connection) throws SQLException {
    // The driver would send these two types as text, which costs both sides more than all the rest.
    BinaryArray binary = BinaryArray.of(this);
    Array array = binary == null ? null : PgDriver.binaryArray(connection, binary);
    return array == null ? connection.createArrayOf(type, known()) : array;
  }

  /** The values as classes that the driver knows. */
  private @Nullable Object[] known() {
    return values instanceof Ctid[]
        ? Arrays.stream(values).map(place -> place == null ? null : place.toString()).toArray()
        : values;
  }
}
