/**
 * The API's description, made from the same table of endpoints that the router serves. Owns no
 * table.
 */
@NullMarked
package dev.lockstep.server.document;

import org.jspecify.annotations.NullMarked;
