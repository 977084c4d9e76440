/**
 * Bugs that are put in on purpose, to see whether the campaign finds them. They live in the test
 * sources and are no part of what ships.
 */
@NullMarked
package dev.lockstep.prove.planted;

import org.jspecify.annotations.NullMarked;
