/**
 * API keys: who may call, and how often.
 *
 * <p>Owns {@code lockstep_server.api_key}. A key is shown once and stored only as a hash. The node
 * that revokes a key refuses it at once, every other node within five seconds. Rates are counted
 * per node.
 */
@NullMarked
package dev.lockstep.server.key;

import org.jspecify.annotations.NullMarked;
