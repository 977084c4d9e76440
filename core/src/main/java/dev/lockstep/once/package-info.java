/**
 * Idempotency: one effect per key.
 *
 * <p>Table owned: {@code once}.
 *
 * <p>Guarantee (G3, docs/guarantees.md): the row of a key is written in the transaction of the
 * key's effect, so that both exist or neither does. Of concurrent twins one runs; the others wait
 * for it or are told. The same key with the same request gets the first answer; with another
 * request it is refused.
 */
@NullMarked
package dev.lockstep.once;

import org.jspecify.annotations.NullMarked;
