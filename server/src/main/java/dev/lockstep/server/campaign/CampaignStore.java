package dev.lockstep.server.campaign;

import dev.lockstep.hold.Holds;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.Pool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.hold.UnitShuffle;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads and changes campaigns. Methods block; those without a connection commit. Thread-safe. */
final class CampaignStore {
  /** The pause reason of the pools of a closed campaign. */
  static final String CLOSED = "The campaign is closed.";

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int SEED_BYTES = 32;
  private static final int MAX_REMEMBERED = 10_000;
  private static final int BYTES_OF_ONE = 500;
  private static final int BYTES_PER_ITEM = 150;
  private static final int COUNTED_TIMES = 8;

  private final Transactor transactor;
  private final Holds holds;
  private final CampaignListener listener;

  /** Published campaigns, which never change what they sell. */
  private final Map<Long, Campaign> remembered = new ConcurrentHashMap<>();

  CampaignStore(Transactor transactor, Holds holds, CampaignListener listener) {
    this.transactor = transactor;
    this.holds = holds;
    this.listener = listener;
  }

  /** What an operator does, as a verb and as the resulting event. */
  private enum Change {
    PUBLISH("publish", "published"),
    PAUSE("pause", "paused"),
    RESUME("resume", "resumed"),
    CLOSE("close", "closed");

    private final String action;
    private final String happened;

    Change(String action, String happened) {
      this.action = action;
      this.happened = happened;
    }
  }

  /** A campaign and its stock in one snapshot. */
  record Stocked(Campaign campaign, List<Pool> pools) {}

  Campaign create(NewCampaign campaign, String actor) {
    return transactor.call(
        options("create campaign"), connection -> create(connection, campaign, actor));
  }

  /** The caller commits. */
  static Campaign create(Connection connection, NewCampaign campaign, String actor)
      throws SQLException {
    Campaign created = CampaignTable.insert(connection, campaign, actor);
    CampaignTable.record(connection, created.id(), "create", actor, null);
    return created;
  }

  /** Creates the stock, shuffled by a new secret seed, and opens the sale. */
  Stocked publish(long id, @Nullable String reason, String actor) {
    return transactor.call(
        options("publish campaign"),
        connection -> {
          Campaign draft = lock(connection, id);
          if (draft.status() != CampaignStatus.DRAFT) {
            throw Problem.of(
                    "campaign-not-draft",
                    409,
                    "Campaign is not a draft",
                    "Only a draft can be published; this campaign is "
                        + draft.status().label()
                        + ".")
                .asException();
          }
          byte[] seed = new byte[SEED_BYTES];
          RANDOM.nextBytes(seed);
          CampaignTable.setStatus(connection, id, CampaignStatus.PUBLISHED, seed);
          holds.createScope(connection, draft.scope(), draft.purchaseLimit());
          holds.createPools(connection, draft.scope(), pools(draft, seed));
          return changed(connection, id, Change.PUBLISH, actor, reason);
        });
  }

  /** Pauses every pool between two batches. Buyers can still pay for what they hold. */
  Stocked pause(long id, String reason, String actor) {
    return transactor.call(
        options("pause campaign"),
        connection -> {
          Campaign open = lockOpen(connection, id);
          open.items().forEach(item -> holds.pause(open.scope(), item.pool(), reason));
          return changed(connection, id, Change.PAUSE, actor, reason);
        });
  }

  /**
   * Like {@link #pause}, but by the server: pauses the pools that still sell, if any. A paused pool
   * keeps its reason.
   */
  boolean stop(long id, Predicate<PoolId> which, String reason, String actor) {
    return transactor.call(
        options("stop campaign"),
        connection -> {
          Optional<Campaign> open =
              CampaignTable.lock(connection, id)
                  .filter(campaign -> campaign.status() == CampaignStatus.PUBLISHED);
          if (open.isEmpty()) {
            return false;
          }
          List<PoolId> selling =
              holds.pools(connection, open.get().scope()).stream()
                  .filter(pool -> pool.pauseReason().isEmpty())
                  .map(Pool::id)
                  .filter(which)
                  .toList();
          selling.forEach(pool -> holds.pause(open.get().scope(), pool, reason));
          if (!selling.isEmpty()) {
            changed(connection, id, Change.PAUSE, actor, reason);
          }
          return !selling.isEmpty();
        });
  }

  Stocked resume(long id, @Nullable String reason, String actor) {
    return transactor.call(
        options("resume campaign"),
        connection -> {
          Campaign open = lockOpen(connection, id);
          open.items().forEach(item -> holds.resume(open.scope(), item.pool()));
          return changed(connection, id, Change.RESUME, actor, reason);
        });
  }

  /** Closes it permanently. Closing again changes nothing. */
  Stocked close(long id, @Nullable String reason, String actor) {
    return transactor.call(
        options("close campaign"),
        connection -> {
          Campaign campaign = lock(connection, id);
          if (campaign.status() == CampaignStatus.CLOSED) {
            return new Stocked(campaign, holds.pools(campaign.scope()));
          }
          CampaignTable.setStatus(connection, id, CampaignStatus.CLOSED, null);
          if (campaign.status() == CampaignStatus.PUBLISHED) {
            campaign.items().forEach(item -> holds.pause(campaign.scope(), item.pool(), CLOSED));
          }
          return changed(connection, id, Change.CLOSE, actor, reason);
        });
  }

  Stocked stocked(long id) {
    return transactor.call(
        options("read campaign"),
        connection ->
            withStock(CampaignTable.find(connection, id).orElseThrow(CampaignStore::unknown)));
  }

  /**
   * @param drafts whether to include campaigns that were never published
   */
  List<Stocked> page(long after, boolean drafts, int limit) {
    return transactor.call(
        options("list campaigns"),
        connection -> {
          List<Campaign> page =
              Page.fitting(
                  CampaignTable.page(connection, after, drafts, limit),
                  CampaignStore::countedBytes);
          // In one statement: anybody may ask for a thousand campaigns.
          Map<ScopeId, List<Pool>> stock =
              holds.pools(connection, page.stream().map(Campaign::scope).toList());
          return page.stream()
              .map(one -> new Stocked(one, stock.getOrDefault(one.scope(), List.of())))
              .toList();
        });
  }

  List<Action> actions(long id, long after, int limit) {
    return transactor.call(
        options("list actions"),
        connection -> {
          if (CampaignTable.find(connection, id).isEmpty()) {
            throw unknown();
          }
          return CampaignTable.actions(connection, id, after, limit);
        });
  }

  /**
   * What it counts in a page's {@link Page#MAX_BYTES}: eight times its JSON, roughly. Anybody may
   * ask for pages of campaigns, so they end at half a MiB.
   */
  static long countedBytes(Campaign campaign) {
    return COUNTED_TIMES * (BYTES_OF_ONE + (long) BYTES_PER_ITEM * campaign.items().size());
  }

  /** A published campaign that was read before, without a query. */
  Optional<Campaign> remembered(long id) {
    return Optional.ofNullable(remembered.get(id));
  }

  Campaign find(long id) {
    Campaign campaign =
        transactor
            .call(connection -> CampaignTable.find(connection, id))
            .orElseThrow(CampaignStore::unknown);
    if (campaign.status() == CampaignStatus.PUBLISHED) {
      if (remembered.size() >= MAX_REMEMBERED) {
        remembered.clear();
      }
      remembered.put(id, campaign);
    }
    return campaign;
  }

  /** Creates and publishes campaigns if none has ever existed. */
  void createSamples(List<NewCampaign> samples, String actor) {
    transactor.run(
        options("sample campaigns"),
        connection -> {
          if (CampaignTable.isEmpty(connection)) {
            samples.forEach(sample -> publish(create(sample, actor).id(), null, actor));
          }
        });
  }

  static ProblemException notOpen(CampaignStatus status) {
    return Problem.of(
            "campaign-not-open",
            409,
            "Campaign not open",
            "The campaign is not open for sale: it is " + status.label() + ".")
        .with("campaignStatus", status.label())
        .asException();
  }

  static ProblemException unknown() {
    return Problem.notFound("such campaign").asException();
  }

  private Stocked withStock(Campaign campaign) {
    return new Stocked(campaign, holds.pools(campaign.scope()));
  }

  private Stocked changed(
      Connection connection, long id, Change change, String actor, @Nullable String reason)
      throws SQLException {
    CampaignTable.record(connection, id, change.action, actor, reason);
    CampaignTable.touch(connection, id);
    Stocked after = withStock(CampaignTable.find(connection, id).orElseThrow());
    listener.changed(
        connection,
        id,
        change.happened,
        () -> CampaignView.full(after.campaign(), after.pools()).put("reason", reason));
    return after;
  }

  private static Campaign lock(Connection connection, long id) throws SQLException {
    return CampaignTable.lock(connection, id).orElseThrow(CampaignStore::unknown);
  }

  private static Campaign lockOpen(Connection connection, long id) throws SQLException {
    Campaign campaign = lock(connection, id);
    if (campaign.status() != CampaignStatus.PUBLISHED) {
      throw notOpen(campaign.status());
    }
    return campaign;
  }

  private static List<NewPool> pools(Campaign campaign, byte[] seed) {
    UnitShuffle shuffle = UnitShuffle.seeded(seed);
    return campaign.items().stream()
        .map(
            item ->
                item.kind() == CampaignKind.TRIANGLE
                    ? NewPool.ofUnits(item.pool(), item.total(), shuffle)
                    : NewPool.counted(item.pool(), item.total()))
        .toList();
  }

  private TxOptions options(String label) {
    return transactor.defaults().withLabel(label);
  }
}
