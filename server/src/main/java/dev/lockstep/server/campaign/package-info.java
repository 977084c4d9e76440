/**
 * Campaigns: what is sold, at what price, and whether it is for sale now.
 *
 * <p>Owns {@code lockstep_server.campaign} and {@code lockstep_server.campaign_action}. A
 * campaign's id is the scope of its stock; each layer or product is one of its pools. What is sold
 * never changes after creation, so it is cached. Whether it is for sale is decided by the pools
 * under their locks, so pausing and closing take effect between two batches. "Sold out" is derived
 * from the stock, "drawn" from the table of draws.
 */
@NullMarked
package dev.lockstep.server.campaign;

import org.jspecify.annotations.NullMarked;
