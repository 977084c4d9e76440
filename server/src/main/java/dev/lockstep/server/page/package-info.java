/**
 * Pages: the shop, the draw, the console and the lab, served from memory. Owns no table.
 *
 * <p>A page is a frame of HTML with one script; everything it shows it asks the API for, as anybody
 * could. There is no build step: what lies in {@code web/} is what browsers get, in the folders
 * {@code shop}, {@code console}, {@code lab} and {@code shared}. Scripts and the stylesheet have
 * addresses that contain a hash of their content and may be kept for ever; pages are asked for
 * again each time and answered in a few bytes when they have not changed.
 */
@NullMarked
package dev.lockstep.server.page;

import org.jspecify.annotations.NullMarked;
