/**
 * The server's configuration: immutable records, checked at construction.
 *
 * <p>Start with {@link dev.lockstep.server.config.ServerConfig}: its {@code read} is the table of
 * settings. It reads one record per part, and each record declares its settings where it reads them
 * ({@code dev.lockstep.server.setting}). docs/settings.md is generated from them. Owns no table and
 * locks nothing.
 */
@NullMarked
package dev.lockstep.server.config;

import org.jspecify.annotations.NullMarked;
