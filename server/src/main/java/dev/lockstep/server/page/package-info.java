/**
 * Pages: the shop, the draw, the console and the lab, served from memory.
 *
 * <p>Start with {@link dev.lockstep.server.page.Pages}. A page is a frame of HTML with one script,
 * which asks the API for everything it shows. There is no build step: what lies in {@code web/} is
 * what browsers get, in the folders {@code shop}, {@code console}, {@code lab} and {@code shared}.
 * Scripts and the stylesheet have addresses that contain a hash of their content, so browsers may
 * keep them for ever. Pages are revalidated each time, which takes a few bytes if they have not
 * changed. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.server.page;

import org.jspecify.annotations.NullMarked;
