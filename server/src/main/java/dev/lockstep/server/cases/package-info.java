/**
 * Exhaustive case distinctions over sealed types, for which Java 17 has no switch. Owns no tables.
 */
@NullMarked
package dev.lockstep.server.cases;

import org.jspecify.annotations.NullMarked;
