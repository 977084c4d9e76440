package dev.lockstep.prove;

import java.util.Locale;

/** Shows progress at a terminal; silent otherwise. */
final class ProgressLine implements Campaign.Listener {
  /** Set by the script when standard error is a terminal, which Java cannot detect. */
  private static final boolean TERMINAL = "yes".equals(System.getenv("LOCKSTEP_TERMINAL"));

  private final CampaignConfig config;
  private final long begun = System.nanoTime();

  ProgressLine(CampaignConfig config) {
    this.config = config;
  }

  void say(String text) {
    if (TERMINAL) {
      System.err.printf(Locale.ROOT, "\r\033[K%s …", text);
      System.err.flush();
    }
  }

  @Override
  public void onProgress(int round, long calls) {
    say(
        "seed %d, round %d, %d calls, %d s"
            .formatted(config.seed(), round, calls, (System.nanoTime() - begun) / 1_000_000_000));
  }

  void done() {
    if (TERMINAL) {
      System.err.print("\r\033[K");
      System.err.flush();
    }
  }
}
