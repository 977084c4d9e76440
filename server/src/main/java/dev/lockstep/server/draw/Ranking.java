package dev.lockstep.server.draw;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.lockstep.server.campaign.Campaign.Prize;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Ranks winners: a pure function of seed, entrants, beacon and prizes, specified in docs/draw.md.
 */
final class Ranking {
  static final String ALGORITHM = "lockstep-draw-1";
  private static final String HMAC = "HmacSHA256";

  private Ranking() {}

  record Winner(String prize, Entrant entrant) {}

  /** Hexadecimal text sorts like the bytes. */
  private record Scored(String score, Entrant entrant) {}

  /** In the order of the prizes; fewer winners than prizes if there are fewer entrants. */
  static List<Winner> winners(
      byte[] seed, EntrantList list, Optional<byte[]> beacon, List<Prize> prizes) {
    Iterator<Scored> ranked = ranked(seed, list, beacon).iterator();
    List<Winner> winners = new ArrayList<>();
    for (Prize prize : prizes) {
      for (int i = 0; i < prize.quantity() && ranked.hasNext(); i++) {
        winners.add(new Winner(prize.name(), ranked.next().entrant()));
      }
    }
    return winners;
  }

  /** The sort is stable: for equal scores, the earlier position comes first. */
  private static List<Scored> ranked(byte[] seed, EntrantList list, Optional<byte[]> beacon) {
    try {
      Mac hmac = Mac.getInstance(HMAC);
      hmac.init(new SecretKeySpec(seed, HMAC));
      byte[] hash = list.hash();
      List<Scored> scored = new ArrayList<>(list.entrants().size());
      for (Entrant entrant : list.entrants()) {
        hmac.update(hash);
        beacon.ifPresent(hmac::update);
        byte[] score = hmac.doFinal(entrant.position().getBytes(US_ASCII));
        scored.add(new Scored(HexFormat.of().formatHex(score), entrant));
      }
      return scored.stream().sorted(Comparator.comparing(Scored::score)).toList();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has " + HMAC, e);
    }
  }
}
