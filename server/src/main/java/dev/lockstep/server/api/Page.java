package dev.lockstep.server.api;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The part of a list that is asked for.
 *
 * @param limit how many items
 * @param after the item to continue after, in the list's own terms
 * @param list the path of the list, with its filters
 */
public record Page(int limit, Optional<String> after, String list) {
  public static final int MAX_LIMIT = 1_000;

  /** A page of large items ends with the one that reaches this size. */
  public static final long MAX_BYTES = 4 * 1024 * 1024;

  static final int DEFAULT_LIMIT = 100;

  /**
   * Builds the answer.
   *
   * @param found up to {@code limit + 1} items: the extra one shows that there are more
   * @param cursor names an item as {@link #after} does
   */
  public <T> JsonObject of(
      List<T> found, Function<T, JsonObject> render, Function<T, String> cursor) {
    return of(found, render, cursor, item -> 0);
  }

  /**
   * As {@link #of(List, Function, Function)}, for a list that was cut off after the item with which
   * it reached {@link #MAX_BYTES}.
   */
  public <T> JsonObject of(
      List<T> found,
      Function<T, JsonObject> render,
      Function<T, String> cursor,
      ToLongFunction<T> bytes) {
    boolean cut = found.stream().mapToLong(bytes).sum() >= MAX_BYTES;
    boolean more = cut || found.size() > limit;
    List<T> items = found.size() > limit ? found.subList(0, limit) : found;
    JsonArray rendered = new JsonArray();
    items.forEach(item -> rendered.add(render.apply(item)));
    return new JsonObject()
        .put("items", rendered)
        .put("next", more ? cursor(cursor.apply(items.get(items.size() - 1))) : null);
  }

  /** The first of these items, up to the one with which they reach {@link #MAX_BYTES}. */
  public static <T> List<T> fitting(List<T> items, ToLongFunction<T> bytes) {
    long sum = 0;
    int count = 0;
    while (count < items.size() && sum < MAX_BYTES) {
      sum += bytes.applyAsLong(items.get(count));
      count++;
    }
    return items.subList(0, count);
  }

  /** The client's form of {@link #after} for the page that follows this item. */
  public String cursor(String item) {
    return PageCursor.encode(list, item);
  }

  /**
   * The item to continue after, in lists of numbered items.
   *
   * @param unlessTold used for the first page
   */
  public long afterNumber(long unlessTold) {
    return after(Long::parseLong).orElse(unlessTold);
  }

  /**
   * The item to continue after, in lists whose cursors have to be parsed.
   *
   * @param read throws {@link IllegalArgumentException} or {@link DateTimeException} for a cursor
   *     that names no item
   */
  public <T> Optional<T> after(Function<String, T> read) {
    try {
      return after.map(read);
    } catch (IllegalArgumentException | DateTimeException e) {
      throw foreign();
    }
  }

  static ProblemException foreign() {
    return Problem.invalid("after", "must be the 'next' of a page of this list").asException();
  }

  static Shape shape(Shape item) {
    return Shape.object()
        .required("items", Shape.list(item, 0, MAX_LIMIT))
        .required("next", Shape.nullable(Shape.text(1, 4_096)));
  }
}
