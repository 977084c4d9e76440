/**
 * What long checks share: a thread of their own, and a row that names the node that continues one
 * and its progress. Owns {@code duty_state}.
 */
@NullMarked
package dev.lockstep.server.duty;

import org.jspecify.annotations.NullMarked;
