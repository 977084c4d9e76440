package dev.lockstep.hold;

import dev.lockstep.combine.CommandDecision;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.ExtensionLimit;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.hold.HoldOutcome.LifetimeReached;
import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.hold.HoldOutcome.LinesDiffer;
import dev.lockstep.hold.HoldOutcome.NotSold;
import dev.lockstep.hold.HoldOutcome.NotYours;
import dev.lockstep.hold.HoldOutcome.PartReturned;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.HoldOutcome.UnknownHold;
import dev.lockstep.hold.HoldOutcome.Vetoed;
import dev.lockstep.hold.Plan.HoldChange;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.hold.StockChange.Cause;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Decides a batch: state and commands in, plan out. A pure function: every promise about stock is
 * kept here; the database only guards it.
 *
 * <p>Takes back expired holds first, then decides the commands in order, each on what the previous
 * ones left.
 */
final class Decision {
  private static final String EXPIRY = "expiry";

  private final Duration maxLifetime;
  private final ScopeState state;
  private final Stock stock;
  private final Set<HoldId> inserted = new LinkedHashSet<>();
  private final Set<HoldId> updated = new LinkedHashSet<>();

  private Decision(ScopeState state, Duration maxLifetime) {
    this.maxLifetime = maxLifetime;
    this.state = state;
    this.stock = new Stock(state);
  }

  /**
   * @param vetoed indexes of the commands whose hold, while held, must stay as it is
   * @param inOrder whether one caller wants these commands decided in order. Then nothing is
   *     decided after a command that must be decided again
   */
  static Plan decide(
      ScopeState state,
      List<HoldCommand<?>> commands,
      BitSet vetoed,
      Duration maxLifetime,
      boolean inOrder) {
    return new Decision(state, maxLifetime).plan(commands, vetoed, inOrder);
  }

  private Plan plan(List<HoldCommand<?>> commands, BitSet vetoed, boolean inOrder) {
    for (HoldId id : state.expired()) {
      stock.find(id).ifPresent(this::currentStateOf);
    }
    List<CommandDecision<HoldOutcome>> decisions = new ArrayList<>(commands.size());
    for (int i = 0; i < commands.size(); i++) {
      HoldOutcome outcome = decide(commands.get(i), vetoed.get(i));
      boolean again = state.moreExpired() && expiryMayCure(outcome);
      decisions.add(new CommandDecision<>(outcome, again));
      if (again && inOrder) {
        break;
      }
    }
    return new Plan(
        state.now(),
        inserted.stream().map(stock::stored).toList(),
        updated.stream().map(this::changeOf).toList(),
        stock.unitChanges(),
        stock.quotaDeltas(),
        state.buyerLimit().orElse(0),
        stock.audit(),
        stock.poolChanges(),
        decisions);
  }

  /**
   * An expired hold returns its stock and its share of the buyer's limit. A replayed hold past its
   * expiry is about to end.
   */
  private boolean expiryMayCure(HoldOutcome outcome) {
    return outcome instanceof SoldOut
        || outcome instanceof LimitReached
        || (outcome instanceof Granted granted && isDue(granted.hold()));
  }

  private HoldOutcome decide(HoldCommand<?> command, boolean vetoed) {
    if (command instanceof Acquire acquire) {
      return acquire(acquire);
    }
    Optional<StoredHold> found = stock.find(command.hold());
    if (found.isEmpty()) {
      return new UnknownHold(command.hold());
    }
    if (!command.actor().mayTouch(found.get().hold().buyer())) {
      return new NotYours(command.hold());
    }
    Hold hold = currentStateOf(found.get());
    if (vetoed && hold.state() == HoldState.HELD && !(command instanceof Return)) {
      return new Vetoed(hold);
    }
    if (command instanceof Confirm confirm) {
      return confirm(hold, confirm);
    }
    if (command instanceof Release) {
      return end(hold, HoldState.RELEASED, command.actor());
    }
    if (command instanceof Return back) {
      return takeBack(hold, back);
    }
    if (hold.state() != HoldState.HELD) {
      return new HoldEnded(hold);
    }
    return command instanceof Change change ? change(hold, change) : extend(hold, (Extend) command);
  }

  private AcquireResult acquire(Acquire command) {
    long fingerprint = Fingerprint.of(command.buyer(), command.lines());
    Optional<StoredHold> known = stock.find(command.hold());
    if (known.isPresent()) {
      return known.get().fingerprint() == fingerprint
          ? new Granted(known.get().hold(), true)
          : new HoldIdReused(command.hold());
    }
    AcquireResult refusal = stock.refusalOf(command.buyer(), List.of(), command.lines());
    if (refusal != null) {
      return refusal;
    }
    Instant now = state.now();
    List<HeldLine> lines = stock.replace(command.hold(), List.of(), command.lines());
    Hold hold =
        new Hold(
            command.scope(),
            command.hold(),
            command.buyer(),
            HoldState.HELD,
            lines,
            now,
            storable(now.plus(command.holdFor())),
            0,
            Optional.empty());
    stock.account(hold, List.of(), lines, Cause.ACQUIRED, command.actor().name());
    stock.put(new StoredHold(hold, fingerprint));
    inserted.add(hold.id());
    return new Granted(hold, false);
  }

  private HoldChangeResult change(Hold hold, Change command) {
    AcquireResult refusal = stock.refusalOf(hold.buyer(), hold.lines(), command.lines());
    if (refusal != null) {
      // Every refusal of an acquire's lines is also a refusal of a change.
      return (HoldChangeResult) refusal;
    }
    List<HeldLine> lines = stock.replace(hold.id(), hold.lines(), command.lines());
    Hold changed = hold.withLines(lines);
    stock.account(changed, hold.lines(), lines, Cause.CHANGED, command.actor().name());
    update(changed);
    return new Granted(changed, false);
  }

  private ExtendResult extend(Hold hold, Extend command) {
    Optional<ExtensionBound> bound = command.bound();
    if (bound.isPresent() && command.holdFor().compareTo(bound.get().maxHoldFor()) > 0) {
      return new ExtensionLimit(hold, bound.get());
    }
    Instant latest = hold.createdAt().plus(maxLifetime);
    if (bound.isPresent()) {
      Instant own = hold.createdAt().plus(bound.get().maxLifetime());
      latest = own.isBefore(latest) ? own : latest;
    }
    Instant wanted = storable(state.now().plus(command.holdFor()));
    Instant until = wanted.isAfter(latest) ? latest : wanted;
    boolean longer = until.isAfter(hold.expiresAt());
    if (!longer && !wanted.isAfter(latest)) {
      // The hold already lasts longer; it keeps its expiry.
      return new Granted(hold, true);
    }
    if (bound.isPresent() && hold.extensions() >= bound.get().maxExtensions()) {
      return new ExtensionLimit(hold, bound.get());
    }
    if (!longer) {
      return new LifetimeReached(hold, latest);
    }
    Hold extended = hold.extended(until, hold.extensions() + (bound.isPresent() ? 1 : 0));
    update(extended);
    return new Granted(extended, false);
  }

  /** Rounds to the database's precision, so that an answer and its replay are equal. */
  private static Instant storable(Instant time) {
    return time.truncatedTo(ChronoUnit.MICROS);
  }

  /**
   * Compares with the hold as earlier commands of the batch left it, so a preceding change is seen.
   */
  private HoldEndResult confirm(Hold hold, Confirm command) {
    boolean live = hold.state() == HoldState.HELD || hold.state() == HoldState.SOLD;
    return live && !Lines.agree(command.expected(), hold.lines())
        ? new LinesDiffer(hold)
        : end(hold, HoldState.SOLD, command.actor());
  }

  private HoldEndResult end(Hold hold, HoldState wanted, Actor actor) {
    if (hold.state() == wanted) {
      return new Ended(hold, true, stock.countsOf(hold));
    }
    if (hold.state() != HoldState.HELD) {
      return new HoldEnded(hold);
    }
    Hold ended = endNow(hold, wanted, actor.name());
    return new Ended(ended, false, stock.countsOf(ended));
  }

  private ReturnResult takeBack(Hold hold, Return command) {
    if (!hold.state().wasSold()) {
      return new NotSold(hold);
    }
    if (hold.state() == HoldState.RETURNED) {
      return new Ended(hold, true, stock.countsOf(hold));
    }
    String by = command.actor().name();
    Optional<Lines.Split> split = Lines.split(hold.lines(), command.part());
    if (split.isEmpty()) {
      return new LinesDiffer(hold);
    }
    List<HeldLine> taken = split.get().taken();
    if (split.get().left().isEmpty()) {
      Hold returned = hold.ended(HoldState.RETURNED, state.now(), by);
      stock.takeBack(returned, taken, by);
      update(returned);
      return new Ended(returned, false, stock.countsOf(returned));
    }
    Hold smaller = hold.withLines(split.get().left());
    stock.takeBack(smaller, taken, by);
    update(smaller);
    return new PartReturned(smaller, taken);
  }

  /** Returns the hold's current state; ends it first if its time is up. */
  private Hold currentStateOf(StoredHold stored) {
    Hold hold = stored.hold();
    return isDue(hold) ? endNow(hold, HoldState.EXPIRED, EXPIRY) : hold;
  }

  private boolean isDue(Hold hold) {
    return hold.state() == HoldState.HELD && !hold.expiresAt().isAfter(state.now());
  }

  private Hold endNow(Hold hold, HoldState end, String by) {
    Hold ended = hold.ended(end, state.now(), by);
    if (end == HoldState.SOLD) {
      stock.sell(ended, by);
    } else {
      stock.giveBack(ended, end == HoldState.EXPIRED ? Cause.EXPIRED : Cause.RELEASED, by);
    }
    update(ended);
    return ended;
  }

  private HoldChange changeOf(HoldId id) {
    HoldState before = Objects.requireNonNull(state.holds().get(id)).hold().state();
    return new HoldChange(before, stock.stored(id).hold());
  }

  private void update(Hold hold) {
    stock.put(new StoredHold(hold, stock.stored(hold.id()).fingerprint()));
    if (!inserted.contains(hold.id())) {
      updated.add(hold.id());
    }
  }
}
