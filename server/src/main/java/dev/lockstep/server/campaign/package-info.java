/**
 * Campaigns: what is sold, at what price, and whether it is for sale now.
 *
 * <p>Start with {@link dev.lockstep.server.campaign.Campaigns}, the HTTP operations; {@link
 * dev.lockstep.server.campaign.Campaign} is what other packages use. {@code CampaignStore} creates
 * and changes campaigns with {@code CampaignTable}'s statements, {@code LiveStock} streams the
 * counts, {@code StockTrail} shows the stock audit.
 *
 * <p>Tables owned: {@code lockstep_server.campaign}, {@code lockstep_server.campaign_action}. A
 * campaign's id is the scope of its stock; each layer or product is one of its pools. What is sold
 * never changes after creation, so it is cached.
 *
 * <p>States: {@link dev.lockstep.server.campaign.CampaignStatus}. DRAFT, then PUBLISHED, then
 * CLOSED. Whether a published campaign sells is decided by the pools under their locks, so pausing
 * and closing take effect between two batches. "Sold out" is derived from the stock, "drawn" from
 * the table of draws.
 *
 * <p>Locks: the campaign's row, before its pools. A sale does not lock it.
 */
@NullMarked
package dev.lockstep.server.campaign;

import org.jspecify.annotations.NullMarked;
