package dev.lockstep.server.page;

import dev.lockstep.sql.Sha256;
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
 * The scripts and the stylesheet, read once: a folder for the shop, one for the console, one for
 * the lab, and one for what they share. Their address contains a hash over all of them: a script
 * finds the others relative to itself, so a page never mixes two releases.
 */
final class Assets {
  private static final String FOLDER = "/dev/lockstep/server/web/";
  private static final int HASH_BYTES = 8;

  /** A jar cannot be listed like a folder; a test compares this list with the folder. */
  static final List<String> SCRIPTS =
      List.of(
          "console/accounts.js",
          "console/calendar.js",
          "console/campaigns.js",
          "console/console.js",
          "console/database.js",
          "console/holds.js",
          "console/invariants.js",
          "console/jobs.js",
          "console/keys.js",
          "console/lock-graph.js",
          "console/metrics.js",
          "console/new-campaign.js",
          "console/overview.js",
          "console/parts.js",
          "console/plot.js",
          "console/purchases.js",
          "console/queues.js",
          "console/reconciliation.js",
          "console/schedule-form.js",
          "console/schedules.js",
          "console/streams.js",
          "console/transfers.js",
          "lab/lab.js",
          "lab/matrix.js",
          "lab/run.js",
          "lab/timeline.js",
          "shared/api.js",
          "shared/dom.js",
          "shared/words.js",
          "shop/campaign.js",
          "shop/checkout.js",
          "shop/draw.js",
          "shop/drop-sale.js",
          "shop/live.js",
          "shop/memory.js",
          "shop/shop.js",
          "shop/triangle-sale.js",
          "shop/triangle.js",
          "shop/verify.js",
          "shop/visitor.js");

  /** One stylesheet in parts; later ones win. */
  static final List<String> STYLES =
      List.of(
          "shared/tokens.css",
          "shared/base.css",
          "shared/parts.css",
          "shared/tables.css",
          "shop/shop.css",
          "console/console.css",
          "lab/lab.css");

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

  /** By the rest of their address, such as {@code shop/campaign.js}. */
  Map<String, Resource> byName() {
    return Collections.unmodifiableMap(byName);
  }

  private static byte[] style() {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    STYLES.forEach(part -> whole.writeBytes(read(part)));
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
