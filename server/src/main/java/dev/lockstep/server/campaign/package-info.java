/**
 * Campaigns: what is sold, for how much, and whether it is for sale now.
 *
 * <p>Tables owned: {@code lockstep_server.campaign}, {@code lockstep_server.campaign_action}. A
 * campaign's id is the scope of its stock, each layer or product a pool of it. What is sold never
 * changes after creation, so it may be remembered; whether it is for sale is decided by the pools
 * under their locks, where pausing and closing take effect between two decisions. That a campaign
 * is sold out is seen from its stock, that it is drawn from the table of draws.
 */
@NullMarked
package dev.lockstep.server.campaign;

import org.jspecify.annotations.NullMarked;
