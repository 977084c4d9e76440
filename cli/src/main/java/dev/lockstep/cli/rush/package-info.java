/**
 * Many concurrent buyers against a running server, over HTTP like any client, and a proof of the
 * result.
 *
 * <p>Start with {@link dev.lockstep.cli.rush.Rush}. Owns no table and locks nothing: it never
 * touches the database.
 */
@NullMarked
package dev.lockstep.cli.rush;

import org.jspecify.annotations.NullMarked;
