/**
 * Pages: the shop, the draw, the console and the lab, served from memory. Owns no table.
 *
 * <p>A page is an HTML frame with one script, which gets all its data from the public API. There is
 * no build step: browsers get the files in {@code web/} as they are. Scripts and the stylesheet
 * have a content hash in their address and are cached forever; pages are revalidated each time,
 * which takes a few bytes if nothing has changed.
 */
@NullMarked
package dev.lockstep.server.page;

import org.jspecify.annotations.NullMarked;
