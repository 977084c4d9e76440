package dev.lockstep.prove.fault;

import dev.lockstep.testkit.TcpProxy;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The network between one node and the database. Outlives the node's processes. Thread-safe. */
final class Line implements AutoCloseable {
  private record Armed(Fault fault, String subject) {}

  private final TcpProxy proxy;
  private final Coverage coverage;
  private final Set<Wire> wires = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Armed> armed = new AtomicReference<>();
  private volatile @Nullable UnaryOperator<String> rewriting;

  Line(int databasePort, Coverage coverage) {
    this.coverage = coverage;
    this.proxy = TcpProxy.to("127.0.0.1", databasePort, this::wire);
  }

  private Wire wire() {
    Wire wire = new Wire(this);
    wires.add(wire);
    return wire;
  }

  TcpProxy proxy() {
    return proxy;
  }

  void gone(Wire wire) {
    wires.remove(wire);
  }

  /** Changes statements on their way; null stops it. Statements already prepared stay. */
  void rewriting(@Nullable UnaryOperator<String> how) {
    rewriting = how;
  }

  boolean rewrites() {
    return rewriting != null;
  }

  String rewrite(String sql) {
    UnaryOperator<String> how = rewriting;
    return how == null ? sql : how.apply(sql);
  }

  /** Arms a cut for the next COMMIT about a subject; empty means any. */
  void arm(Fault fault, String subject) {
    armed.set(new Armed(fault, subject));
  }

  boolean isArmed() {
    return armed.get() != null;
  }

  void disarm() {
    armed.set(null);
  }

  /** Takes the cut armed for this moment; null if there is none. */
  @Nullable Fault strike(String subject, Phase phase) {
    Armed now = armed.get();
    if (now == null
        || (now.fault() == Fault.CUT_AFTER_COMMIT) != (phase == Phase.COMMITTED)
        || !(now.subject().isEmpty() || now.subject().equals(subject))
        || !armed.compareAndSet(now, null)) {
      return null;
    }
    coverage.injected(now.fault());
    coverage.hit(now.fault(), subject, phase);
    return now.fault();
  }

  /** Counts the phase of every connection with a transaction. */
  void count(Fault fault) {
    for (Wire wire : wires) {
      if (wire.phase() != Phase.IDLE) {
        coverage.hit(fault, wire.subject(), wire.phase());
      }
    }
  }

  int cut() {
    wires.clear();
    return proxy.cut();
  }

  /** Everything passes again. */
  void heal() {
    disarm();
    proxy.delay(Duration.ZERO);
    proxy.resume();
    proxy.deliver();
    proxy.accept();
  }

  @Override
  public void close() {
    proxy.close();
  }
}
