/**
 * Keys: who may call the API, and how often.
 *
 * <p>Table owned: {@code lockstep_server.api_key}. A key is shown once and kept only as a hash. A
 * revoked or expired key is refused by the node that revoked it at once, and by every node within
 * five seconds. Rates are counted per node.
 */
@NullMarked
package dev.lockstep.server.key;

import org.jspecify.annotations.NullMarked;
