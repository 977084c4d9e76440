/**
 * Manual actions of callers, recorded with who did them and why.
 *
 * <p>Start with {@link dev.lockstep.server.act.Act}, the only type: who did what, to what, and why.
 * The package that owns what is changed records it in a table of its own ({@code campaign_action},
 * {@code job_action}), in the transaction of the action. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.server.act;

import org.jspecify.annotations.NullMarked;
