/**
 * A PostgreSQL server as a library: unpacked from a Maven artifact, initialised with a password,
 * started, stopped, crashed and recovered from Java.
 *
 * <p>Entry type: {@link dev.lockstep.postgres.PostgresServer}; {@link
 * dev.lockstep.postgres.PostgresKeeper} restarts it after an unexpected end. Read {@code
 * Postmaster} (the process) and {@code Cluster} (the files) next. Owns no tables, locks no rows.
 * Reasons: docs/adr/005-embedded-postgresql.md.
 *
 * <p>Promises: one data folder has one owner. If the owner is killed, the next start stops its
 * server and recovers. {@code fsync}, full page writes and synchronous commit are on if the
 * configuration is {@link dev.lockstep.postgres.PostgresConfig#durable() durable}. The server
 * listens on the loopback address only.
 *
 * <p>Not promised: replication, backup, upgrades across major versions. It does not replace an
 * operated database.
 */
@NullMarked
package dev.lockstep.postgres;

import org.jspecify.annotations.NullMarked;
