/**
 * What stands between the network and the API: how many connections there may be and how long each
 * step on them may take, which requests are not understood as sent, whose word is taken for where a
 * request comes from, and who may read what a server says about itself.
 *
 * <p>Owns no table. Nothing here waits for the database.
 */
@NullMarked
package dev.lockstep.server.edge;

import org.jspecify.annotations.NullMarked;
