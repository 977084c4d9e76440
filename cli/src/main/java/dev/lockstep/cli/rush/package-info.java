/**
 * Many concurrent buyers against a running server, over HTTP like any client, and a proof of the
 * result. Owns no table; does not touch the database.
 */
@NullMarked
package dev.lockstep.cli.rush;

import org.jspecify.annotations.NullMarked;
