package dev.lockstep.server.page;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The scripts and the stylesheet, read once. Their address contains a hash over all of them, and
 * scripts import each other relatively, so a page never mixes two releases.
 */
final class Assets {
  private static final String FOLDER = "/dev/lockstep/server/web/";
  private static final int HASH_BYTES = 8;

  /** A jar cannot be listed like a folder; a test compares this list with the folder. */
  static final List<String> SCRIPTS =
      List.of(
          "api.js",
          "calendar.js",
          "campaign.js",
          "checkout.js",
          "console-accounts.js",
          "console-campaigns.js",
          "console-database.js",
          "console-holds.js",
          "console-invariants.js",
          "console-jobs.js",
          "console-keys.js",
          "console-new-campaign.js",
          "console-overview.js",
          "console-parts.js",
          "console-purchases.js",
          "console-queues.js",
          "console-reconciliation.js",
          "console-schedule-form.js",
          "console-schedules.js",
          "console-streams.js",
          "console-transfers.js",
          "console.js",
          "dom.js",
          "draw.js",
          "drop-sale.js",
          "lab-matrix.js",
          "lab-run.js",
          "lab-timeline.js",
          "lab.js",
          "live.js",
          "lock-graph.js",
          "memory.js",
          "metrics.js",
          "plot.js",
          "shop.js",
          "triangle-sale.js",
          "triangle.js",
          "verify.js",
          "visitor.js",
          "words.js");

  /** One stylesheet in parts; later ones win. */
  static final List<String> STYLES =
      List.of("base.css", "parts.css", "tables.css", "shop.css", "console.css", "lab.css");

  static final Assets ALL = new Assets();

  private final Map<String, Resource> byName = new TreeMap<>();
  private final String path;

  private Assets() {
    MessageDigest digest = Sha256.digest();
    for (String name : SCRIPTS) {
      byte[] content = read(name);
      digest.update(content);
      byName.put(name, Resource.immutable(content, "text/javascript; charset=utf-8"));
    }
    byte[] style = style();
    digest.update(style);
    byName.put("style.css", Resource.immutable(style, "text/css; charset=utf-8"));
    path = "/web/" + HexFormat.of().formatHex(digest.digest(), 0, HASH_BYTES) + "/";
  }

  /** Their path: {@code /web/<hash>/}. */
  String path() {
    return path;
  }

  /** By file name. */
  Map<String, Resource> byName() {
    return Collections.unmodifiableMap(byName);
  }

  private static byte[] style() {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    STYLES.forEach(part -> whole.writeBytes(read("style/" + part)));
    return whole.toByteArray();
  }

  static byte[] read(String name) {
    try (InputStream in = Assets.class.getResourceAsStream(FOLDER + name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is missing from the build");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
