package dev.lockstep.server.campaign;

import dev.lockstep.hold.ExtensionBound;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A campaign as it was created, and its current status.
 *
 * @param seedCommitment hexadecimal SHA-256 of the secret seed; empty while it is a draft
 * @param drawn whether its winners are known
 * @param times when it was changed
 */
public record Campaign(
    long id,
    CampaignKind kind,
    String name,
    String currency,
    OptionalInt purchaseLimit,
    HoldTimes holdTimes,
    List<Item> items,
    List<Prize> prizes,
    CampaignStatus status,
    Optional<String> seedCommitment,
    boolean drawn,
    Times times) {

  /** Something that can be won. */
  public record Prize(String name, int quantity) {
    static List<Prize> list(JsonArray json) {
      List<Prize> prizes = new ArrayList<>(json.size());
      for (int i = 0; i < json.size(); i++) {
        JsonObject prize = json.getJsonObject(i);
        prizes.add(new Prize(prize.getString("name"), prize.getInteger("quantity")));
      }
      return prizes;
    }
  }

  /**
   * When a campaign was changed.
   *
   * @param publishedAt empty if never
   * @param updatedAt when it was created, or last published, paused, resumed or closed
   */
  public record Times(Instant createdAt, Optional<Instant> publishedAt, Instant updatedAt) {}

  public Campaign {
    items = List.copyOf(items);
    prizes = List.copyOf(prizes);
  }

  /** Whether it was ever published; before that, only operators see it. */
  public boolean isPublic() {
    return times.publishedAt().isPresent();
  }

  /** The scope of its stock. */
  public ScopeId scope() {
    return new ScopeId(id);
  }

  /** How long a hold lasts. */
  public Duration holdFor() {
    return holdTimes.holdFor();
  }

  /** How often and how long a buyer may extend a hold. */
  public ExtensionBound buyersBound() {
    return holdTimes.bound();
  }

  /** The item with this layer number or SKU. */
  public Optional<Item> item(String code) {
    return items.stream().filter(item -> item.code().equals(code)).findFirst();
  }

  /** The item of this pool. Pools are numbered from 1 in the order of the items. */
  public Item item(PoolId pool) {
    return items.get(Math.toIntExact(pool.value() - 1));
  }

  int total() {
    return items.stream().mapToInt(Item::total).sum();
  }
}
