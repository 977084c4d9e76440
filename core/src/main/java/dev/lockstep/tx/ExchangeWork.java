package dev.lockstep.tx;

import java.sql.SQLException;

/** As {@link TxWork}, for work that counts its crossings of the network. */
@FunctionalInterface
public interface ExchangeWork<T> {
  T run(Exchange exchange) throws SQLException;
}
