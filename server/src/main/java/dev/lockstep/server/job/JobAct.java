package dev.lockstep.server.job;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Shape;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Something that somebody does to jobs, queues or schedules, to be kept with who did it and why.
 *
 * @param subject the job, queue or schedule, or the filter of many jobs
 */
public record JobAct(String action, String subject, String actor, Optional<String> reason) {
  public static final Shape WHY = Shape.nullable(Shape.text(1, 500));

  /** A body that may say why. */
  public static final ObjectShape REASON = Shape.object().optional("reason", WHY);

  /** As asked for in a request whose body may have {@link #WHY} as its reason. */
  public static JobAct of(Request request, String action, String subject) {
    return new JobAct(
        action,
        subject,
        request.principal().name(),
        Optional.ofNullable(request.body().getString("reason")));
  }

  /** Writes it down, in the transaction that does it. The caller commits. */
  public void record(Connection connection, int affected) throws SQLException {
    JobActTable.insert(connection, this, affected);
  }
}
