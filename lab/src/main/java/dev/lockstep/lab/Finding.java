package dev.lockstep.lab;

/**
 * A script's judgement of what was seen.
 *
 * @param anomaly whether the anomaly happened
 * @param sentence says so, with the values seen
 */
record Finding(boolean anomaly, String sentence) {
  static Finding of(boolean anomaly, String happened, String prevented) {
    return new Finding(anomaly, anomaly ? happened : prevented);
  }
}
