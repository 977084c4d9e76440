package dev.lockstep.lab;

/**
 * What a script's judge makes of what was seen.
 *
 * @param anomaly whether the thing asked about happened
 * @param sentence with the values that say so
 */
record Finding(boolean anomaly, String sentence) {
  static Finding of(boolean anomaly, String happened, String prevented) {
    return new Finding(anomaly, anomaly ? happened : prevented);
  }
}
