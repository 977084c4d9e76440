/**
 * What long checks share: a thread of their own, and a row that says who goes on with one and where
 * it is. Owns {@code duty_state}.
 */
@NullMarked
package dev.lockstep.server.duty;

import org.jspecify.annotations.NullMarked;
