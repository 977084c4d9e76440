package dev.lockstep.tx;

import java.sql.SQLException;

/** As {@link TxWork}, for work that saves round trips. */
@FunctionalInterface
public interface ExchangeWork<T> {
  T run(Exchange exchange) throws SQLException;
}
