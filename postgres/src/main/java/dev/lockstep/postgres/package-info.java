/**
 * A PostgreSQL server as a library: unpacked from a Maven artifact, initialised with a password,
 * started, stopped, crashed and recovered from Java.
 *
 * <p>{@link dev.lockstep.postgres.PostgresServer} is the entry. It promises that one data folder
 * has one owner, that a server whose owner was killed is stopped and recovered by the next start,
 * and that the data of an ordinary start are durable: {@code fsync}, full page writes and
 * synchronous commit are on unless {@link dev.lockstep.postgres.PostgresConfig#forTests} was asked
 * for. The server listens on the loopback address only.
 *
 * <p>It is no replacement for an operated database: there is no replication, no backup and no
 * upgrade across major versions here.
 */
@NullMarked
package dev.lockstep.postgres;

import org.jspecify.annotations.NullMarked;
