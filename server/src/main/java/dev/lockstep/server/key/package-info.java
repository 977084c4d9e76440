/**
 * API keys: who may call, and how often.
 *
 * <p>Start with {@link dev.lockstep.server.key.Keys}; {@code KeyCache} answers most requests from
 * memory, {@code LookUps} limits queries for unknown keys, {@code KeyTable} has the statements.
 *
 * <p>Owns {@code lockstep_server.api_key}. A key is shown once and stored only as a hash. States of
 * a key: valid, then expired or revoked, for ever. The node that revokes a key refuses it at once,
 * every other node within five seconds. Rates are counted per node. Locks: the whole table while
 * the first operator's key is made, so that two nodes make one.
 */
@NullMarked
package dev.lockstep.server.key;

import org.jspecify.annotations.NullMarked;
