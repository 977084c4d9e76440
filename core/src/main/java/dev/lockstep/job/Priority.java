package dev.lockstep.job;

/** Which of the due jobs of a queue comes first. */
public enum Priority {
  HIGH(0),
  NORMAL(1),
  LOW(2);

  // As stored: the order of reading.
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
