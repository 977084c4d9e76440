/**
 * Manual actions of callers, recorded with who and why. Each table belongs to the package it acts
 * on.
 */
@NullMarked
package dev.lockstep.server.act;

import org.jspecify.annotations.NullMarked;
