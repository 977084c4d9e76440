package dev.lockstep.sql;

import java.sql.SQLException;

/** As {@link TxWork}, for work that saves round trips. */
@FunctionalInterface
public interface ExchangeWork<T> {
  T run(Exchange exchange) throws SQLException;
}
