/**
 * What the server was asked for. {@link dev.lockstep.server.config.ServerConfig#read} is the table
 * of settings: it reads one record per part, and each record declares its settings where it reads
 * them ({@code dev.lockstep.server.setting}). Immutable, checked at construction. Owns no table.
 */
@NullMarked
package dev.lockstep.server.config;

import org.jspecify.annotations.NullMarked;
