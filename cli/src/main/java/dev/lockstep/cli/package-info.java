/**
 * The command line: one class per command of {@code ./lockstep} that runs on Java.
 *
 * <p>Start with {@link dev.lockstep.cli.Main}: it lists the commands and says what their exit codes
 * mean. {@code UpCommand} runs {@code dev.lockstep.server.Server}; {@code SettingsCommand} prints
 * its settings; {@code RushCommand} and {@code BirthdaysCommand} talk to a running server over
 * HTTP; {@code LabCommand} plays {@code dev.lockstep.lab} on a PostgreSQL of its own; {@code
 * VerifyDrawCommand} needs neither server nor database. Options that commands share are mixins:
 * {@code Console}, {@code RunningServerOptions}. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.cli;

import org.jspecify.annotations.NullMarked;
