/**
 * Exhaustive case distinctions over sealed types, for which Java 17 has no switch.
 *
 * <p>Start with {@link dev.lockstep.server.cases.Cases}, the only type. A test loads every class
 * that has a table of cases, so an outcome without a case breaks the build. Owns no table and locks
 * nothing.
 */
@NullMarked
package dev.lockstep.server.cases;

import org.jspecify.annotations.NullMarked;
