/**
 * Many buyers at once against a running server, over HTTP like any other client, and a proof of
 * what came of it. Owns no table and asks no database.
 */
@NullMarked
package dev.lockstep.cli.rush;

import org.jspecify.annotations.NullMarked;
