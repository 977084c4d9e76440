package dev.lockstep.sql;

/**
 * Cuts a query off where its rows get too large to hold in memory. A page of a thousand rows may
 * otherwise have hundreds of megabytes.
 */
public final class BoundedRows {
  private BoundedRows() {}

  /**
   * A query for the first of these rows: those with fewer than a number of bytes before them, so at
   * least one. If what it returns has fewer bytes in all, nothing was cut off. The number is the
   * last parameter.
   *
   * @param rows a query whose columns all have different names
   * @param bytes of a row of {@code r}, such as {@code octet_length(r.data)}
   * @param order of the rows of {@code r}; unique
   */
  public static String sql(String rows, String bytes, String order) {
    return """
        SELECT * FROM (
          SELECT r.*, coalesce(sum(%s) OVER (
            ORDER BY %s ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
          FROM (%s) r) r
        WHERE r.bytes_before < ? ORDER BY %s"""
        .formatted(bytes, order, rows, order);
  }
}
