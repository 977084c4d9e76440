package dev.lockstep.prove.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.prove.history.Edn;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Timeline;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories that are wrong on purpose, one for each rule. */
class OtherCheckersTest {
  private static Fields once(String body, String op) {
    return Fields.of("key", "k", "body", body, "op", op);
  }

  private static Fields answer(String op, boolean replayed) {
    return Fields.of("answer", op, "replayed", replayed);
  }

  private static Fields effects(String... ops) {
    return Fields.of(
        "effects", String.join(",", List.of(ops).stream().map(o -> "k:" + o).toList()));
  }

  @Test
  void onceAcceptsOneEffectAndItsReplay() {
    Told told =
        new Told()
            .ok(1, 2, "once.run", once("same", "x"), answer("x", false))
            .ok(3, 4, "once.run", once("same", "y"), answer("x", true))
            .ok(9, 9, "final.effects", Fields.of("prefix", "k"), effects("x"));
    assertThat(told.broken(new OnceChecker())).isEmpty();
  }

  @Test
  void onceSeesTwoEffects() {
    Told told =
        new Told()
            .ok(1, 2, "once.run", once("same", "x"), answer("x", false))
            .unknown(3, "once.run", once("same", "y"))
            .ok(9, 9, "final.effects", Fields.of("prefix", "k"), effects("x", "y"));
    assertThat(told.broken(new OnceChecker())).containsExactly("one effect for each key");
  }

  @Test
  void onceSeesAnAnswerWithoutItsEffect() {
    Told told =
        new Told()
            .ok(1, 2, "once.run", once("same", "x"), answer("x", false))
            .ok(9, 9, "final.effects", Fields.of("prefix", "k"), effects());
    assertThat(told.broken(new OnceChecker())).contains("an answer has its effect");
  }

  @Test
  void onceSeesAnotherRequestAnswered() {
    Told told =
        new Told()
            .ok(1, 2, "once.run", once("same", "x"), answer("x", false))
            .ok(3, 4, "once.run", once("other", "y"), answer("x", true));
    assertThat(told.broken(new OnceChecker())).containsExactly("another request is refused");
  }

  @Test
  void onceSeesTheEffectOfAFailedCall() {
    Told told =
        new Told()
            .failed(1, 2, "once.run", once("same", "x"))
            .ok(9, 9, "final.effects", Fields.of("prefix", "k"), effects("x"));
    assertThat(told.broken(new OnceChecker())).containsExactly("a failed call has no effect");
  }

  private static Fields run(String job, String run, long from, long to) {
    return Fields.of("job", job, "name", "n", "run", run, "from", from, "to", to);
  }

  @Test
  void jobsSeeTwoLiveLeases() {
    Told told =
        new Told()
            .ok(1, 1, "job.held", Fields.NONE, run("j", "r1", 10, 30))
            .ok(2, 2, "job.held", Fields.NONE, run("j", "r2", 20, 40));
    assertThat(told.broken(new JobChecker())).containsExactly("one live lease");
  }

  @Test
  void jobsAcceptOneLeaseAfterTheOther() {
    Told told =
        new Told()
            .ok(1, 1, "job.held", Fields.NONE, run("j", "r1", 10, 20))
            .ok(2, 2, "job.held", Fields.NONE, run("j", "r2", 21, 40));
    assertThat(told.broken(new JobChecker())).isEmpty();
  }

  private static Told enqueued(String... jobs) {
    Told told = new Told();
    int at = 1;
    for (String job : jobs) {
      told.ok(
          at, at + 1, "job.enqueue", Fields.of("name", "n", "lane", "l"), Fields.of("job", job));
      at += 2;
    }
    return told;
  }

  private static Fields done(String... effects) {
    return Fields.of("done", String.join(",", effects));
  }

  private static final Fields MINE = Fields.of("prefix", "job1-");

  @Test
  void jobsSeeAnEffectTwice() {
    Told told = enqueued("j").ok(50, 50, "final.done", MINE, done("j;n;r1;0;10", "j;n;r2;0;20"));
    assertThat(told.broken(new JobChecker())).containsExactly("a job's effect once");
  }

  @Test
  void jobsSeeALostJobAndOneThatIsLeft() {
    Told told =
        enqueued("j")
            .ok(40, 40, "final.job", Fields.of("job", "j"), Fields.of("state", "READY"))
            .ok(50, 50, "final.done", MINE, done());
    assertThat(told.broken(new JobChecker()))
        .containsExactlyInAnyOrder("nothing due is left", "a job that was accepted is done");
  }

  @Test
  void jobsSeeALaneOutOfOrder() {
    Told told =
        enqueued("j1", "j2")
            .ok(10, 10, "job.began", Fields.NONE, run("j2", "r2", 100, 0))
            .ok(50, 50, "final.done", MINE, done("j1;n;r1;0;200", "j2;n;r2;0;150"));
    assertThat(told.broken(new JobChecker())).containsExactly("a lane keeps its order");
  }

  @Test
  void jobsSeeACancelledJobsEffect() {
    Told told =
        enqueued("j")
            .ok(10, 11, "job.cancel", Fields.of("job", "j"), Fields.of("result", "Changed"))
            .ok(50, 50, "final.done", MINE, done("j;n;r1;0;10"));
    assertThat(told.broken(new JobChecker())).containsExactly("a cancelled job has no effect");
  }

  @Test
  void jobsSeeAnOccurrenceTwiceAndOneLost() {
    Fields schedule = Fields.of("name", "s", "every", 1);
    Told twice =
        new Told()
            .ok(1, 2, "job.schedule", schedule, Fields.of("next", 1_000_000))
            .ok(9, 9, "final.done", MINE, done("a;s;r1;1000000;5000000", "b;s;r2;1000000;6000000"));
    Told lost =
        new Told()
            .ok(1, 2, "job.schedule", schedule, Fields.of("next", 1_000_000))
            .ok(9, 9, "final.done", MINE, done("a;s;r1;1000000;5000000", "b;s;r2;3000000;6000000"));
    assertThat(twice.broken(new JobChecker())).containsExactly("each occurrence once");
    assertThat(lost.broken(new JobChecker())).containsExactly("no occurrence is lost");
  }

  private static Fields append(String body) {
    return Fields.of("keys", "k", "body", body);
  }

  private static Fields took(String sink, long seq, String body) {
    return Fields.of("sink", sink, "key", "k", "seq", seq, "body", body);
  }

  @Test
  void outboxAcceptsRepeats() {
    Told told =
        new Told()
            .ok(1, 2, "outbox.append", append("x"), Fields.of("seqs", "1"))
            .ok(3, 3, "sink.took", Fields.NONE, took("a", 1, "x"))
            .ok(4, 4, "sink.took", Fields.NONE, took("a", 1, "x"))
            .ok(5, 5, "sink.took", Fields.NONE, took("b", 1, "x"))
            .ok(9, 9, "final.events", Fields.of("key", "k"), Fields.of("events", "1:x"));
    assertThat(told.broken(new OutboxChecker())).isEmpty();
  }

  @Test
  void outboxSeesAGap() {
    Told told = new Told().ok(3, 3, "sink.took", Fields.NONE, took("a", 2, "x"));
    assertThat(told.broken(new OutboxChecker())).containsExactly("first occurrences in order");
  }

  @Test
  void outboxSeesWhatWasRolledBack() {
    Told told =
        new Told()
            .failed(1, 2, "outbox.append", append("x"))
            .ok(3, 3, "sink.took", Fields.NONE, took("a", 1, "x"));
    assertThat(told.broken(new OutboxChecker()))
        .containsExactly("what was rolled back is not sent");
  }

  @Test
  void outboxSeesWhatIsMissing() {
    Told told =
        new Told()
            .ok(1, 2, "outbox.append", append("x"), Fields.of("seqs", "1"))
            .ok(3, 3, "sink.took", Fields.NONE, took("a", 1, "x"))
            .ok(9, 9, "final.events", Fields.of("key", "k"), Fields.of("events", "1:x"));
    assertThat(told.broken(new OutboxChecker())).containsExactly("what was committed is sent");
  }

  @Test
  void outboxSeesOneSequenceWithTwoContents() {
    Told told =
        new Told()
            .ok(3, 3, "sink.took", Fields.NONE, took("a", 1, "x"))
            .ok(4, 4, "sink.took", Fields.NONE, took("b", 1, "y"));
    assertThat(told.broken(new OutboxChecker())).containsExactly("a sequence has one content");
  }

  private static Fields book() {
    return Fields.of("book", 1);
  }

  private static Told ledger(String entriesOfTwo) {
    return new Told()
        .ok(0, 1, "ledger.open", book().with("accounts", "1:none,2:0"), Fields.NONE)
        .ok(90, 91, "final.entries", book().with("account", 2), Fields.of("entries", entriesOfTwo));
  }

  @Test
  void ledgerSeesAMissingVersionAndAFloorThatWasPassed() {
    assertThat(ledger("2:t:MOVED:5:5:0:10").broken(new LedgerChecker()))
        .contains("entries are a chain");
    assertThat(ledger("1:t:MOVED:-5:-5:0:10").broken(new LedgerChecker()))
        .contains("no balance below its floor");
  }

  @Test
  void ledgerSeesMoneyFromNowhere() {
    Told told = new Told().ok(1, 2, "ledger.sum", book(), Fields.of("sum", 5));
    assertThat(told.broken(new LedgerChecker())).containsExactly("balances add up to zero");
  }

  @Test
  void ledgerSeesATransferThatIsNotThere() {
    Told told =
        new Told()
            .ok(1, 2, "ledger.move", book().with("id", "t").with("amount", 5), Fields.NONE)
            .ok(9, 9, "final.transfer", book().with("id", "t"), Fields.of("state", "NONE"));
    assertThat(told.broken(new LedgerChecker())).contains("a transfer that was answered is there");
  }

  @Test
  void ledgerSeesAPastThatChanges() {
    Fields instant = book().with("account", 2).with("at", 77);
    Told told =
        new Told()
            .ok(1, 2, "ledger.balanceAt", instant, Fields.of("balance", 5))
            .ok(3, 4, "ledger.balanceAt", instant, Fields.of("balance", 6));
    assertThat(told.broken(new LedgerChecker())).containsExactly("the past does not change");
  }

  private static Fields steps(String steps) {
    return Fields.of("steps", steps);
  }

  private static Fields reads(String reads) {
    return Fields.of("reads", reads);
  }

  @Test
  void isolationAcceptsASerialHistory() {
    Told told =
        new Told()
            .ok(1, 2, "tx.lists", steps("a.1.10,r.1"), reads("1:10"))
            .ok(3, 4, "tx.lists", steps("r.1,a.1.11"), reads("1:10"))
            .ok(9, 9, "final.lists", steps("r.1"), reads("1:10.11"));
    assertThat(told.broken(new IsolationChecker())).isEmpty();
    assertThat(Edn.listAppend(told.history()))
        .contains(":type :ok, :f :txn")
        .contains("[:append 1 10] [:r 1 [10]]");
  }

  @Test
  void isolationSeesEachPhenomenon() {
    Told g0 =
        new Told()
            .ok(1, 9, "tx.lists", steps("a.1.10,a.2.20"), reads(""))
            .ok(1, 9, "tx.lists", steps("a.1.11,a.2.21"), reads(""))
            .ok(10, 11, "final.lists", steps("r.1,r.2"), reads("1:10.11,2:21.20"));
    Told g1a =
        new Told()
            .failed(1, 2, "tx.lists", steps("a.1.10"))
            .ok(3, 4, "tx.lists", steps("r.1"), reads("1:10"));
    Told g1b =
        new Told()
            .ok(1, 9, "tx.lists", steps("a.1.10,a.1.11"), reads(""))
            .ok(3, 4, "tx.lists", steps("r.1"), reads("1:10"));
    Told g1c =
        new Told()
            .ok(1, 9, "tx.lists", steps("a.1.10,r.2"), reads("2:20"))
            .ok(1, 9, "tx.lists", steps("a.2.20,r.1"), reads("1:10"));
    Told g2 =
        new Told()
            .ok(1, 9, "tx.lists", steps("r.1,a.2.20"), reads("1:"))
            .ok(1, 9, "tx.lists", steps("r.2,a.1.10"), reads("2:"))
            .ok(10, 11, "final.lists", steps("r.1,r.2"), reads("1:10,2:20"));
    IsolationChecker checker = new IsolationChecker();
    assertThat(g0.broken(checker)).singleElement().asString().startsWith("G0");
    assertThat(g1a.broken(checker)).singleElement().asString().startsWith("G1a");
    assertThat(g1b.broken(checker)).singleElement().asString().startsWith("G1b");
    assertThat(g1c.broken(checker)).singleElement().asString().startsWith("G1c");
    assertThat(g2.broken(checker)).singleElement().asString().startsWith("G2");
  }

  @Test
  void aTimelineNeedsNothingElse() {
    Told told = new Told().unknown(1, "once.run", once("<b>", "x"));
    assertThat(Timeline.page("Broken: \"x\"", List.of("a & b"), told.history()))
        .contains("prefers-color-scheme:dark")
        .contains("&lt;b&gt;")
        .doesNotContain("http");
  }
}
