/**
 * Creates Lockstep's tables, and checks that they are the ones this release needs.
 *
 * <p>Entry type: {@link dev.lockstep.migration.Migrations}. {@code Script} is one file of {@code
 * db/lockstep}; {@code History} knows which of them ran.
 *
 * <p>Table owned: {@code flyway_schema_history}, one row per script, in Flyway's format: a database
 * migrated here can go on with Flyway, and the other way round.
 *
 * <p>Locks: the advisory lock that Flyway takes for the same history, until COMMIT and before
 * anything else, so nodes that start at once migrate one after the other. Then the tables of one
 * script, each waited for briefly: see {@code Migrations}.
 */
@NullMarked
package dev.lockstep.migration;

import org.jspecify.annotations.NullMarked;
