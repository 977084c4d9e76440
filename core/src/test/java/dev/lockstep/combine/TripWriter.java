package dev.lockstep.combine;

import dev.lockstep.sql.Exchange;
import dev.lockstep.work.OpenTransaction;
import java.sql.SQLException;
import java.util.List;

/** A companion that only writes, in round trips. */
@FunctionalInterface
@SuppressWarnings("FunctionalInterfaceMethodChanged") // Only the way to write differs.
public interface TripWriter<P, O> extends Companion<P, O, O> {
  void write(Exchange exchange, List<Accompanied<P, O>> commands) throws SQLException;

  @Override
  default List<O> write(OpenTransaction transaction, List<Accompanied<P, O>> commands)
      throws SQLException {
    write(Exchange.of(transaction), commands);
    return commands.stream().map(Accompanied::outcome).toList();
  }
}
