package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Sales that post, publish and enqueue in their hold's transaction, combined or joined. */
final class SaleWork implements Workload {
  private static final int KEYS = 20;
  private static final int POLLS = 300;
  private static final long POLL_MS = 200;
  private static final int STOCK = 50_000;

  private final Round round;
  private final String prefix;
  private final Recently recent = new Recently(5);
  private final Set<String> sales = ConcurrentHashMap.newKeySet();
  private final Set<String> published = ConcurrentHashMap.newKeySet();

  SaleWork(Round round) {
    this.round = round;
    this.prefix = round.prefix("sale");
    round.receives(prefix, this);
  }

  private long scope() {
    return round.id(900_000);
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    client.insist("outbox.define", Fields.of("sinks", String.join(",", OutboxWork.SINKS)));
    client.insist("hold.open", Fields.of("scope", scope(), "pools", "1:" + STOCK + ",2:" + STOCK));
    client.insist("ledger.open", Fields.of("book", scope(), "accounts", "1:none,2:0"));
  }

  @Override
  public void step(Client client) throws InterruptedException {
    if (client.chance(15) && recent.any()) {
      client.call("sale.sell", recent.pick(client));
      return;
    }
    String id = client.uuid().toString();
    Fields sale =
        Fields.of(
            "scope",
            scope(),
            "hold",
            id,
            "buyer",
            "buyer",
            "lines",
            1 + client.below(2) + ":1",
            "for",
            3_600_000,
            "book",
            scope(),
            "id",
            id,
            "from",
            1,
            "to",
            2,
            "amount",
            1 + client.below(9),
            "key",
            prefix + client.below(KEYS),
            "name",
            prefix + id);
    sales.add(id);
    recent.add(sale);
    client.call(client.chance(60) ? "sale.sell" : "sale.inOne", sale);
  }

  @Override
  public String deliver(Fields event, boolean calm) {
    published.add(event.text("sink") + event.text("body"));
    return "ok";
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    List<String> ids = List.copyOf(sales);
    long granted =
        HoldWork.read(client, scope(), ids).stream()
            .filter(hold -> !hold.text("state").equals("NONE"))
            .count();
    LedgerWork.read(client, scope(), ids);
    Fields mine = Fields.of("prefix", prefix);
    for (int i = 0; i < POLLS; i++) {
      long done = client.ask("final.done", mine).parts("done", ",").size();
      if (done >= granted && published.size() >= granted * OutboxWork.SINKS.size()) {
        break;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
    client.insist("final.done", mine);
    client.insist("final.sum", Fields.of("book", scope()));
  }
}
