/**
 * The command line: one class per word of {@code ./lockstep} that runs on Java.
 *
 * <p>Start with {@link dev.lockstep.cli.Main}: it names the words and says what their exit codes
 * mean. {@code UpCommand} starts {@code dev.lockstep.server.Server} and keeps it; {@code
 * SettingsCommand} prints its settings; {@code RushCommand} and {@code BirthdaysCommand} talk to a
 * running server over HTTP; {@code LabCommand} plays {@code dev.lockstep.lab} on a PostgreSQL of
 * its own; {@code VerifyDrawCommand} needs neither. Options that words share are mixins: {@code
 * Console}, {@code RunningServerOptions}. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.cli;

import org.jspecify.annotations.NullMarked;
