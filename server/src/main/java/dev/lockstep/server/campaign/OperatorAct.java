package dev.lockstep.server.campaign;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Shape;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Something an operator does to what a campaign has held or sold, to be kept with what was done to
 * the campaign itself.
 *
 * @param action {@code release} or {@code refund}
 * @param subject the hold or the purchase, as clients know it
 */
public record OperatorAct(String action, String subject, String actor, Optional<String> reason) {
  /** A body that may say why. */
  public static final ObjectShape REASON =
      Shape.object().optional("reason", Shape.nullable(Shape.text(1, 500)));

  /** As asked for in a request whose body is of {@link #REASON}. */
  public static OperatorAct of(Request request, String action, String subject) {
    return new OperatorAct(
        action,
        subject,
        request.principal().name(),
        Optional.ofNullable(request.body().getString("reason")));
  }

  /**
   * Writes it down. The caller commits. Locks nothing that anybody waits for: the row's reference
   * to its campaign goes together with the lock that operators' other actions take.
   */
  public void record(Connection connection, long campaign) throws SQLException {
    CampaignTable.record(connection, campaign, this);
  }
}
