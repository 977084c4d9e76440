package dev.lockstep.spring;

import dev.lockstep.hold.Holds;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.Schedules;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.once.Once;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.tx.Transactor;

/** The blocks of an application. */
public record Blocks(
    Transactor transactor,
    Holds holds,
    Once once,
    Jobs jobs,
    Schedules schedules,
    Outbox outbox,
    Ledger ledger) {}
