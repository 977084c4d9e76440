/** The API's description, built from the endpoint table that the router serves. Owns no table. */
@NullMarked
package dev.lockstep.server.document;

import org.jspecify.annotations.NullMarked;
