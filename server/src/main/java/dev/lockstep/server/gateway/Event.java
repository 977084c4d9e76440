package dev.lockstep.server.gateway;

import java.time.Duration;

/**
 * A webhook to be delivered.
 *
 * @param attempts how often it was tried in vain
 * @param delay a fault: how much later than usual to send it
 */
record Event(String id, String type, String body, int attempts, Duration delay) {}
