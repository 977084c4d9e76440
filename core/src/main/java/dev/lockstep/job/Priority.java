package dev.lockstep.job;

/** The order among the due jobs of a queue. */
public enum Priority {
  HIGH(0),
  NORMAL(1),
  LOW(2);

  // Stored in the table; lower codes are read first.
  private final short code;

  Priority(int code) {
    this.code = (short) code;
  }

  short code() {
    return code;
  }

  static Priority of(int code) {
    for (Priority priority : values()) {
      if (priority.code == code) {
        return priority;
      }
    }
    throw new IllegalArgumentException("No priority has the code " + code);
  }
}
