/**
 * Complete case distinctions over sealed types, which Java 17 has no switch for. Owns no tables.
 */
@NullMarked
package dev.lockstep.server.cases;

import org.jspecify.annotations.NullMarked;
