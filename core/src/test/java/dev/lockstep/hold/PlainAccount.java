package dev.lockstep.hold;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.hold.HoldOutcome.NotYours;
import dev.lockstep.hold.HoldOutcome.Paused;
import dev.lockstep.hold.HoldOutcome.Shortage;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.HoldOutcome.UnknownHold;
import dev.lockstep.hold.HoldOutcome.UnknownPool;
import dev.lockstep.hold.HoldOutcome.UnknownUnit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What should be answered, worked out the slow and obvious way: one command after the other, and
 * every number counted anew from the holds. It does not know which unit the shuffle gives next, so
 * it knows a pool's units only where buyers name them.
 */
final class PlainAccount {
  private final History history;
  private final Map<Integer, String> pauses;
  private final Map<HoldId, Entry> entries = new HashMap<>();
  private final Map<HoldId, Integer> extensions = new HashMap<>();

  private record Entry(
      BuyerId buyer,
      List<Line> asked,
      List<Line> lines,
      HoldState state,
      Instant createdAt,
      Instant expiresAt) {
    Entry in(HoldState end) {
      return new Entry(buyer, asked, lines, end, createdAt, expiresAt);
    }

    int quantity() {
      return Lines.quantityOf(lines);
    }
  }

  PlainAccount(History history, Map<Integer, String> pauses) {
    this.history = history;
    this.pauses = pauses;
  }

  String answer(Instant now, HoldCommand<?> command) {
    entries.replaceAll(
        (id, entry) ->
            entry.state() == HoldState.HELD && !entry.expiresAt().isAfter(now)
                ? entry.in(HoldState.EXPIRED)
                : entry);
    Entry known = entries.get(command.hold());
    if (command instanceof Acquire acquire) {
      return acquire(now, acquire, known);
    }
    if (known == null) {
      return new UnknownHold(command.hold()).toString();
    }
    if (!command.actor().mayTouch(known.buyer())) {
      return new NotYours(command.hold()).toString();
    }
    if (command instanceof Change change) {
      return known.state() == HoldState.HELD ? change(change, known) : ended(command.hold());
    }
    if (command instanceof Extend extend) {
      return known.state() == HoldState.HELD ? extend(now, extend, known) : ended(command.hold());
    }
    if (command instanceof Return && !known.state().wasSold()) {
      return "NotSold " + hold(command.hold());
    }
    if (command instanceof Return back) {
      return takeBack(back, known);
    }
    if (command instanceof Confirm confirm
        && (known.state() == HoldState.HELD || known.state() == HoldState.SOLD)
        && !confirm.expected().isEmpty()
        && !quantities(confirm.expected()).equals(quantities(known.lines()))) {
      return "LinesDiffer " + hold(command.hold());
    }
    return end(command, known, command instanceof Confirm ? HoldState.SOLD : HoldState.RELEASED);
  }

  private static Map<PoolId, Integer> quantities(List<Line> lines) {
    return lines.stream()
        .collect(Collectors.toMap(Line::pool, Line::quantity, Integer::sum, TreeMap::new));
  }

  private String acquire(Instant now, Acquire command, @Nullable Entry known) {
    if (known != null) {
      boolean same = known.buyer().equals(command.buyer()) && known.asked().equals(command.lines());
      return same ? granted(command.hold(), true) : new HoldIdReused(command.hold()).toString();
    }
    Optional<HoldOutcome> refusal = refusal(command.buyer(), List.of(), command.lines());
    if (refusal.isPresent()) {
      return refusal.get().toString();
    }
    entries.put(
        command.hold(),
        new Entry(
            command.buyer(),
            command.lines(),
            command.lines(),
            HoldState.HELD,
            now,
            now.plus(command.holdFor())));
    return granted(command.hold(), false);
  }

  private String change(Change command, Entry known) {
    Optional<HoldOutcome> refusal = refusal(known.buyer(), known.lines(), command.lines());
    if (refusal.isPresent()) {
      return refusal.get().toString();
    }
    entries.put(
        command.hold(),
        new Entry(
            known.buyer(),
            known.asked(),
            command.lines(),
            HoldState.HELD,
            known.createdAt(),
            known.expiresAt()));
    return granted(command.hold(), false);
  }

  private String extend(Instant now, Extend command, Entry known) {
    Duration lifetime = MemoryScope.MAX_LIFETIME;
    int extended = extensions.getOrDefault(command.hold(), 0);
    Instant wanted = now.plus(command.holdFor());
    if (command.bound().isPresent()) {
      ExtensionBound bound = command.bound().get();
      lifetime = lifetime.compareTo(bound.maxLifetime()) < 0 ? lifetime : bound.maxLifetime();
      boolean asksForMore =
          wanted.isAfter(known.expiresAt()) || wanted.isAfter(known.createdAt().plus(lifetime));
      if (command.holdFor().compareTo(bound.maxHoldFor()) > 0
          || (asksForMore && extended >= bound.maxExtensions())) {
        return "ExtensionLimit " + extended;
      }
    }
    Instant latest = known.createdAt().plus(lifetime);
    if (wanted.isAfter(latest) && !latest.isAfter(known.expiresAt())) {
      return "LifetimeReached " + latest;
    }
    Instant until = wanted.isAfter(latest) ? latest : wanted;
    boolean longer = until.isAfter(known.expiresAt());
    if (longer) {
      extensions.put(command.hold(), extended + (command.bound().isPresent() ? 1 : 0));
      entries.put(
          command.hold(),
          new Entry(
              known.buyer(),
              known.asked(),
              known.lines(),
              HoldState.HELD,
              known.createdAt(),
              until));
    }
    return granted(command.hold(), !longer);
  }

  private String end(HoldCommand<?> command, Entry known, HoldState wanted) {
    HoldState from = wanted == HoldState.RETURNED ? HoldState.SOLD : HoldState.HELD;
    if (known.state() != from && known.state() != wanted) {
      return ended(command.hold());
    }
    entries.put(command.hold(), known.in(wanted));
    List<PoolCounts> counts = known.lines().stream().map(line -> counts(line.pool())).toList();
    return "Ended %s %s %s".formatted(hold(command.hold()), known.state() == wanted, counts);
  }

  private String takeBack(Return command, Entry known) {
    Map<PoolId, Line> left = new TreeMap<>();
    known.lines().forEach(line -> left.put(line.pool(), line));
    if (known.state() == HoldState.SOLD) {
      for (Line part : command.part()) {
        Line has = left.remove(part.pool());
        if (has == null
            || part.quantity() > has.quantity()
            || !has.units().containsAll(part.units())) {
          return "LinesDiffer " + hold(command.hold());
        }
        if (part.quantity() < has.quantity()) {
          List<Integer> units = new ArrayList<>(has.units());
          units.removeAll(part.units());
          left.put(part.pool(), new Line(part.pool(), has.quantity() - part.quantity(), units));
        }
      }
    }
    if (known.state() == HoldState.RETURNED || command.part().isEmpty() || left.isEmpty()) {
      return end(command, known, HoldState.RETURNED);
    }
    entries.put(
        command.hold(),
        new Entry(
            known.buyer(),
            known.asked(),
            List.copyOf(left.values()),
            HoldState.SOLD,
            known.createdAt(),
            known.expiresAt()));
    return "PartReturned %s %s".formatted(hold(command.hold()), quantities(command.part()));
  }

  private Optional<HoldOutcome> refusal(BuyerId buyer, List<Line> has, List<Line> wants) {
    for (Line line : wants) {
      if (line.pool().value() > history.kinds().size()) {
        return Optional.of(new UnknownPool(line.pool()));
      }
    }
    for (Line line : wants) {
      for (int unit : line.units()) {
        if (unit >= total(line.pool())) {
          return Optional.of(new UnknownUnit(line.pool(), unit));
        }
      }
    }
    for (Line line : wants) {
      String reason = pauses.get((int) line.pool().value());
      if (reason != null && takesMore(line, of(has, line.pool()))) {
        return Optional.of(new Paused(line.pool(), reason));
      }
    }
    int more = Lines.quantityOf(wants) - Lines.quantityOf(has);
    int used = live().stream().filter(e -> e.buyer().equals(buyer)).mapToInt(Entry::quantity).sum();
    if (more > 0 && history.limit().isPresent() && used + more > history.limit().getAsInt()) {
      return Optional.of(new LimitReached(history.limit().getAsInt(), used, more));
    }
    return shortages(has, wants);
  }

  private static boolean takesMore(Line wants, Optional<Line> has) {
    return has.isEmpty()
        || wants.quantity() > has.get().quantity()
        || !has.get().units().containsAll(wants.units());
  }

  private Optional<HoldOutcome> shortages(List<Line> has, List<Line> wants) {
    List<Shortage> shortages = new ArrayList<>();
    for (Line line : wants) {
      Optional<Line> own = of(has, line.pool());
      int could = counts(line.pool()).free() + own.map(Line::quantity).orElse(0);
      if (!line.units().isEmpty()) {
        Set<Integer> taken =
            live().stream()
                .flatMap(entry -> of(entry.lines(), line.pool()).stream())
                .flatMap(held -> held.units().stream())
                .collect(Collectors.toSet());
        own.ifPresent(held -> taken.removeAll(held.units()));
        could = (int) line.units().stream().filter(unit -> !taken.contains(unit)).count();
      }
      if (line.quantity() > could) {
        shortages.add(new Shortage(line.pool(), line.quantity(), could));
      }
    }
    return shortages.isEmpty() ? Optional.empty() : Optional.of(new SoldOut(shortages));
  }

  private List<Entry> live() {
    return entries.values().stream().filter(entry -> entry.state().live()).toList();
  }

  private PoolCounts counts(PoolId pool) {
    return new PoolCounts(
        pool, total(pool), quantity(pool, HoldState.HELD), quantity(pool, HoldState.SOLD));
  }

  private int quantity(PoolId pool, HoldState state) {
    return entries.values().stream()
        .filter(entry -> entry.state() == state)
        .flatMap(entry -> of(entry.lines(), pool).stream())
        .mapToInt(Line::quantity)
        .sum();
  }

  private int total(PoolId pool) {
    return history.totals().get((int) pool.value() - 1);
  }

  private static Optional<Line> of(List<Line> lines, PoolId pool) {
    return lines.stream().filter(line -> line.pool().equals(pool)).findFirst();
  }

  private String granted(HoldId id, boolean replayed) {
    return "Granted %s %s".formatted(hold(id), replayed);
  }

  private String ended(HoldId id) {
    return "HoldEnded " + hold(id);
  }

  private String hold(HoldId id) {
    Entry entry = Objects.requireNonNull(entries.get(id));
    List<String> lines =
        entry.lines().stream().map(line -> line.pool().value() + "×" + line.quantity()).toList();
    return "%s %s %s until %s".formatted(id, entry.state(), lines, entry.expiresAt());
  }
}
