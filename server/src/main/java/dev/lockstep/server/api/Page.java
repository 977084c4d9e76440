package dev.lockstep.server.api;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Which part of a list is wanted.
 *
 * @param limit how many items
 * @param after the item to go on behind, as the list knows it
 * @param list whose page it is: its path
 */
public record Page(int limit, Optional<String> after, String list) {
  public static final int MAX_LIMIT = 1_000;
  static final int DEFAULT_LIMIT = 100;

  /**
   * The answer to a page.
   *
   * @param found up to {@code limit + 1} items: the one too many says that there are more
   * @param cursor names an item as {@link #after} does
   */
  public <T> JsonObject of(
      List<T> found, Function<T, JsonObject> render, Function<T, String> cursor) {
    List<T> items = found.size() > limit ? found.subList(0, limit) : found;
    JsonArray rendered = new JsonArray();
    items.forEach(item -> rendered.add(render.apply(item)));
    return new JsonObject()
        .put("items", rendered)
        .put("next", found.size() > limit ? cursor(cursor.apply(items.get(limit - 1))) : null);
  }

  /** As a client carries it: {@link #after} of the page that begins behind this item. */
  public String cursor(String item) {
    return PageCursor.encode(list, item);
  }

  /**
   * The item to go on behind, where items are numbered.
   *
   * @param unlessTold for the first page
   */
  public long afterNumber(long unlessTold) {
    return after.map(Page::number).orElse(unlessTold);
  }

  /**
   * The item to go on behind, where it is more than a text.
   *
   * @param read throws {@link IllegalArgumentException} or {@link DateTimeException} for what names
   *     no item
   */
  public <T> Optional<T> after(Function<String, T> read) {
    try {
      return after.map(read);
    } catch (IllegalArgumentException | DateTimeException e) {
      throw Problem.invalid("after", "must be the 'next' of a page of this list").asException();
    }
  }

  private static long number(String text) {
    if (!text.matches("-?\\d{1,18}")) {
      throw Problem.invalid("after", "must be the 'next' of a page").asException();
    }
    return Long.parseLong(text);
  }

  static Shape shape(Shape item) {
    return Shape.object()
        .required("items", Shape.list(item, 0, MAX_LIMIT))
        .required("next", Shape.nullable(Shape.text(1, 4_096)));
  }
}
