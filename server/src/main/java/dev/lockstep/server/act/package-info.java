/** What callers do by hand, with who did it and why. The tables belong to what it is done to. */
@NullMarked
package dev.lockstep.server.act;

import org.jspecify.annotations.NullMarked;
