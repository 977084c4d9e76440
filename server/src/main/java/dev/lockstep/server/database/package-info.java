/**
 * The PostgreSQL that the server runs on: checked, migrated, pooled and watched.
 *
 * <p>Start with {@link dev.lockstep.server.database.Database}. It refuses a release that is not
 * supported ({@code SupportedVersion}) and says in one line what to do ({@code DatabaseRefusal}),
 * migrates the schemas of core, server and gateway, and opens two pools: for sales and for reports.
 * {@code DatabaseWatch} writes twice a second and so knows whether a write works; {@code
 * DatabaseGate} refuses connections at once while the database does not answer.
 *
 * <p>Table owned: {@code write_probe}. Locks nothing that others lock.
 */
@NullMarked
package dev.lockstep.server.database;

import org.jspecify.annotations.NullMarked;
