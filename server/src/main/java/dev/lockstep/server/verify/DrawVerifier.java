package dev.lockstep.server.verify;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.lockstep.server.verify.PublishedDraw.Prize;
import dev.lockstep.server.verify.PublishedDraw.Ticket;
import dev.lockstep.server.verify.PublishedDraw.Unreadable;
import dev.lockstep.server.verify.PublishedDraw.Win;
import dev.lockstep.server.verify.Verdict.Check;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Recomputes a published draw and reports differences. Stateless; thread-safe. */
public final class DrawVerifier {
  private static final String ALGORITHM = "lockstep-draw-1";
  private static final int MAX_SHOWN = 5;

  private DrawVerifier() {}

  /**
   * Compares the document with what follows from it.
   *
   * @param document the JSON from {@code GET /v1/campaigns/{id}/draw}
   * @param noted the commitment noted before the draw, in hexadecimal
   */
  public static Verdict verify(String document, Optional<String> noted) {
    PublishedDraw draw;
    try {
      draw = PublishedDraw.parse(document);
    } catch (Unreadable e) {
      return new Verdict(
          "Not a draw that can be verified",
          List.of(new Check("document", false, String.valueOf(e.getMessage()))));
    }
    List<Check> checks = new ArrayList<>();
    checks.add(algorithm(draw));
    checks.add(seed(draw));
    noted.ifPresent(commitment -> checks.add(noted(draw, commitment)));
    checks.add(positions(draw));
    checks.add(entrants(draw));
    checks.add(winners(draw));
    String subject =
        "Draw of campaign %s: %d entrants, %d winners"
            .formatted(draw.campaign(), draw.entrants().size(), draw.winners().size());
    return new Verdict(subject, checks);
  }

  private static Check algorithm(PublishedDraw draw) {
    boolean known = draw.algorithm().equals(ALGORITHM);
    return new Check(
        "algorithm",
        known,
        known ? ALGORITHM : "'" + draw.algorithm() + "' is not known here, only " + ALGORITHM);
  }

  private static Check seed(PublishedDraw draw) {
    return same(
        "seed",
        "its SHA-256 is the commitment",
        "the SHA-256 of the seed",
        sha256(bytesOf(draw.seed())),
        "the commitment",
        draw.commitment());
  }

  private static Check noted(PublishedDraw draw, String noted) {
    return same(
        "commitment",
        "it is the one noted before the draw",
        "the one noted before the draw",
        noted.toLowerCase(Locale.ROOT),
        "the document's",
        draw.commitment());
  }

  /** A position listed twice would have two chances. */
  private static Check positions(PublishedDraw draw) {
    Set<String> seen = new HashSet<>();
    for (Ticket ticket : draw.entrants()) {
      if (ticket.row() != ticket.layer() || ticket.column() > ticket.layer()) {
        return new Check("positions", false, ticket + " is outside of any triangle");
      }
      if (!seen.add(ticket.position())) {
        return new Check("positions", false, ticket + " is there twice");
      }
    }
    return new Check("positions", true, "each is in the triangle, and none is there twice");
  }

  private static Check entrants(PublishedDraw draw) {
    return same(
        "entrants",
        "their SHA-256 is the published hash",
        "the SHA-256 of the list",
        hex(listHash(draw)),
        "the published hash",
        draw.entrantsHash());
  }

  private static Check winners(PublishedDraw draw) {
    List<Win> computed = computed(draw);
    List<String> differences = new ArrayList<>();
    for (int i = 0; i < Math.max(computed.size(), draw.winners().size()); i++) {
      String due = i < computed.size() ? computed.get(i).toString() : "nobody";
      String said = i < draw.winners().size() ? draw.winners().get(i).toString() : "nobody";
      if (!due.equals(said)) {
        differences.add("place %d: computed %s, published %s".formatted(i + 1, due, said));
      }
    }
    if (differences.isEmpty()) {
      return new Check("winners", true, "all " + computed.size() + " are those that follow");
    }
    String shown =
        String.join("; ", differences.subList(0, Math.min(MAX_SHOWN, differences.size())));
    int more = differences.size() - MAX_SHOWN;
    return new Check("winners", false, more > 0 ? shown + "; and " + more + " more" : shown);
  }

  /** From the published list, not from its published hash. */
  private static List<Win> computed(PublishedDraw draw) {
    byte[] hash = listHash(draw);
    Map<String, Ticket> byScore = new TreeMap<>();
    for (Ticket ticket : ordered(draw)) {
      byte[] message = concat(hash, bytesOf(draw.beacon().orElse("")), bytes(ticket.position()));
      // Equal scores rank in the order of the list.
      byScore.put(
          "%s %06d".formatted(hex(hmac(bytesOf(draw.seed()), message)), byScore.size()), ticket);
    }
    List<Ticket> ranked = new ArrayList<>(byScore.values());
    List<Win> wins = new ArrayList<>();
    for (Prize prize : draw.prizes()) {
      for (int i = 0; i < prize.quantity() && wins.size() < ranked.size(); i++) {
        wins.add(new Win(prize.name(), ranked.get(wins.size())));
      }
    }
    return wins;
  }

  private static byte[] listHash(PublishedDraw draw) {
    StringBuilder list = new StringBuilder();
    for (Ticket ticket : ordered(draw)) {
      list.append(ticket.position()).append(',').append(ticket.purchase()).append('\n');
    }
    return digest(bytes(list.toString()));
  }

  private static List<Ticket> ordered(PublishedDraw draw) {
    List<Ticket> ordered = new ArrayList<>(draw.entrants());
    ordered.sort(
        (a, b) ->
            a.layer() != b.layer()
                ? Integer.compare(a.layer(), b.layer())
                : Integer.compare(a.column(), b.column()));
    return ordered;
  }

  private static Check same(
      String what, String good, String left, String leftHex, String right, String rightHex) {
    return leftHex.equals(rightHex)
        ? new Check(what, true, good + ", " + leftHex)
        : new Check(what, false, left + " is " + leftHex + ", " + right + " is " + rightHex);
  }

  private static byte[] concat(byte[]... parts) {
    byte[] all = new byte[Arrays.stream(parts).mapToInt(part -> part.length).sum()];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static byte[] bytesOf(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  private static String sha256(byte[] data) {
    return hex(digest(data));
  }

  private static byte[] digest(byte[] data) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(data);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }

  private static byte[] hmac(byte[] key, byte[] message) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has HmacSHA256", e);
    }
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
