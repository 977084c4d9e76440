/**
 * The server, put together: each class here opens one part and gives it to the next.
 *
 * <p>Start with {@link dev.lockstep.server.Server}: it opens HTTP, then the database, then {@code
 * Services}, which opens in this order:
 *
 * <ul>
 *   <li>{@code Blocks}: the blocks of {@code core}, and the threads and figures they share.
 *   <li>{@code Sales}: campaigns, carts, purchases, draws; {@code PaymentProvider} is Stripe or the
 *       built-in gateway.
 *   <li>{@code Checks}: invariants, and money against goods.
 *   <li>{@code Publishing}: deliveries and streams, set up by {@code Streaming}.
 *   <li>{@code Work}: jobs, schedules and housekeeping. It uses all others, so it starts last.
 * </ul>
 *
 * <p>Whatever a start has opened is closed again, in reverse, when the start fails or the server is
 * asked to stop. Three schemas are migrated: {@code lockstep} from the scripts that {@code core}
 * ships, {@code lockstep_server}, whose tables belong to the packages below this one, and {@code
 * gateway}, whose tables belong to the module of that name.
 *
 * <p>Table owned: {@code stream_namespace}.
 */
@NullMarked
package dev.lockstep.server;

import org.jspecify.annotations.NullMarked;
