/**
 * The API's description, built from the endpoint table that the router serves.
 *
 * <p>Start with {@link dev.lockstep.server.document.ApiDocument}, the only type. Owns no table and
 * locks nothing.
 */
@NullMarked
package dev.lockstep.server.document;

import org.jspecify.annotations.NullMarked;
