package dev.lockstep.prove.history;

/**
 * One call of one client.
 *
 * @param client calls of one client never overlap
 * @param node which node it went to; -1: none
 * @param kind what was asked, such as {@code hold.acquire}; a kind that begins with {@code final.}
 *     was asked when everything stood still
 * @param start nanoseconds on the driver's clock, before the call left
 * @param end after its answer came; {@link #NEVER} for an unknown outcome, which may come later
 */
public record Op(
    long id,
    int client,
    int node,
    String kind,
    Fields args,
    long start,
    long end,
    Status status,
    Fields result) {
  public static final long NEVER = Long.MAX_VALUE;

  public boolean ok() {
    return status == Status.OK;
  }

  public boolean is(String wanted) {
    return kind.equals(wanted);
  }

  /** Certainly without any effect. */
  public boolean failed() {
    return status == Status.FAILED;
  }

  public boolean unknown() {
    return status == Status.UNKNOWN;
  }

  public boolean refused() {
    return status == Status.REFUSED;
  }

  /** The same call with another answer. */
  public Op with(Fields answer) {
    return new Op(id, client, node, kind, args, start, end, status, answer);
  }

  /** Whether it had ended before the other began. */
  public boolean before(Op other) {
    return end < other.start;
  }

  /** The id identifies a call within a history. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Op op && op.id == id;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(id);
  }

  @Override
  public String toString() {
    return "#%d client %d node %d %s(%s) → %s %s"
        .formatted(id, client, node, kind, args, status, result);
  }
}
