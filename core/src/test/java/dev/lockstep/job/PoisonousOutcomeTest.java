package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever a handler says or throws, it is the end of nothing but its own run. */
@NullUnmarked
class PoisonousOutcomeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);
  private static final Duration PAST_ALL_TIMESTAMPS = Duration.ofDays(365L * 400_000);

  private enum Poison {
    RETRY_OF_NULL {
      @Override
      Outcome outcome() {
        return new Outcome.Retry(null);
      }
    },
    DEAD_OF_NULL {
      @Override
      Outcome outcome() {
        return new Outcome.Dead(null);
      }
    },
    SNOOZE_OF_NULL {
      @Override
      Outcome outcome() {
        return new Outcome.Snooze(null);
      }
    },
    SNOOZE_FOR_EVER {
      @Override
      Outcome outcome() {
        return new Outcome.Snooze(FOR_EVER);
      }
    },
    SNOOZE_INTO_THE_PAST {
      @Override
      Outcome outcome() {
        return new Outcome.Snooze(Duration.ofMillis(-1));
      }
    },
    RETRY_PAST_ALL_TIMESTAMPS {
      @Override
      Outcome outcome() {
        return new Outcome.Retry("later", Optional.of(PAST_ALL_TIMESTAMPS));
      }
    },
    NO_OUTCOME {
      @Override
      Outcome outcome() {
        return null;
      }
    },
    ERROR {
      @Override
      Outcome outcome() {
        throw new Error("An operation is not implemented");
      }
    },
    ERROR_IN_EFFECTS {
      @Override
      Outcome outcome() {
        return Outcome.Done.writing(
            connection -> {
              throw new AssertionError("in effects");
            });
      }
    },
    UNSPEAKABLE_EXCEPTION {
      @Override
      Outcome outcome() {
        throw new IllegalStateException() {
          private static final long serialVersionUID = 1L;

          @Override
          public String getMessage() {
            throw new IllegalStateException("not even a message");
          }
        };
      }
    },
    UNSTORABLE_ERROR {
      @Override
      Outcome outcome() {
        return new Outcome.Retry("NUL \0 and half a character \ud83d");
      }
    },
    UNSTORABLE_REASON {
      @Override
      Outcome outcome() {
        return new Outcome.Dead("NUL \0 and half a character \ud83d");
      }
    },
    INTERRUPTED {
      @Override
      Outcome outcome() throws InterruptedException {
        throw new InterruptedException("a timeout of the handler's own");
      }
    },
    LEFT_INTERRUPTED {
      @Override
      Outcome outcome() {
        Thread.currentThread().interrupt();
        return new Outcome.Retry("interrupted");
      }
    };

    abstract Outcome outcome() throws InterruptedException;
  }

  @ParameterizedTest
  @EnumSource
  void endsAloneAndTheNodeGoesOn(Poison poison) {
    Jobs jobs = desk.jobs();
    NewJob poisonous = Desk.job("\"poison\"").withMaxAttempts(1);
    // Several in each shard: each of the threads that write results meets one.
    desk.transactor().run(c -> jobs.enqueueAll(c, Collections.nCopies(4 * Desk.SHARDS, poisonous)));
    desk.enqueueMany(100);

    desk.start(
        2,
        (payload, job) ->
            payload.equals("\"poison\"") ? poison.outcome() : desk.note(payload, job));

    desk.awaitNoneLive();
    desk.enqueueMany(100);
    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(200);
    assertThat(desk.jobs().list(JobState.DEAD, JobFilter.ALL, Optional.empty(), 100))
        .hasSize(4 * Desk.SHARDS)
        .allMatch(dead -> !dead.reason().orElseThrow().isBlank());
  }

  @Test
  void outcomesAreCheckedWhenTheyAreMade() {
    assertThatThrownBy(() -> new Outcome.Retry(null)).hasMessageContaining("error");
    assertThatThrownBy(() -> new Outcome.Retry("no", null)).hasMessageContaining("after");
    assertThatThrownBy(() -> new Outcome.Dead(null)).hasMessageContaining("reason");
    assertThatThrownBy(() -> new Outcome.Done(null)).hasMessageContaining("effects");
    assertThatThrownBy(() -> new Outcome.Snooze(null)).hasMessageContaining("after");
    for (Duration wrong :
        new Duration[] {
          FOR_EVER, PAST_ALL_TIMESTAMPS, Duration.ofNanos(-1), Outcome.LONGEST.plusNanos(1)
        }) {
      assertThatThrownBy(() -> new Outcome.Snooze(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("ten years");
      assertThatThrownBy(() -> new Outcome.Retry("no", Optional.of(wrong)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("ten years");
    }
    assertThat(new Outcome.Snooze(Outcome.LONGEST).after()).isEqualTo(Duration.ofDays(3650));
    assertThat(new Outcome.Snooze(Duration.ZERO).after()).isZero();
  }

  @Test
  void aResultThatWaitsForSomebodysLockHoldsUpNoOther() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    JobId locked = desk.enqueue(Desk.job("\"locked\""));
    desk.start(
        4,
        (payload, job) -> {
          if (payload.equals("\"locked\"")) {
            begun.countDown();
            assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          }
          return desk.note(payload, job);
        });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

    try (Connection editing = database.connection()) {
      editing.setAutoCommit(false);
      assertThat(desk.jobs().payload(editing, locked, OptionalInt.empty(), "\"edited\""))
          .isInstanceOf(EditResult.Edited.class);
      go.countDown();
      Await.until("its result waits", () -> desk.ran.contains("\"locked\""));
      desk.enqueueMany(10 * Desk.SHARDS);
      Await.until("all others are done", () -> desk.live() == 1);
      editing.rollback();
    }

    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(10 * Desk.SHARDS + 1);
  }

  @Test
  void aResultThatTheDatabaseRefusesToStoreEndsAsAFailureOfItsJob() {
    // As an operator's constraint, or an encoding that has no such letter, would.
    database.execute(
        """
        ALTER TABLE lockstep.job_attempt ADD CONSTRAINT no_poison CHECK (error NOT LIKE 'poison%')""");
    try {
      JobId id = desk.enqueue(Desk.job("\"poison\"").withMaxAttempts(2));
      desk.start(
          2,
          (payload, job) ->
              payload.equals("\"poison\"")
                  ? new Outcome.Retry("poison " + job.attempt())
                  : desk.note(payload, job));
      desk.enqueueMany(10 * Desk.SHARDS);

      desk.awaitNoneLive();

      assertThat(desk.ran).hasSize(10 * Desk.SHARDS);
      assertThat(desk.jobs().find(id).orElseThrow().state()).isEqualTo(JobState.DEAD);
      assertThat(desk.jobs().attempts(id))
          .hasSize(2)
          .allMatch(attempt -> attempt.error().contains("could not be written"));
    } finally {
      database.execute("ALTER TABLE lockstep.job_attempt DROP CONSTRAINT no_poison");
    }
  }
}
