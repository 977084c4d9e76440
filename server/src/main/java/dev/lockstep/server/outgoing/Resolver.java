package dev.lockstep.server.outgoing;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Finds the addresses of a name. May block. */
@FunctionalInterface
public interface Resolver {
  /** As the system does. */
  Resolver SYSTEM = host -> List.of(InetAddress.getAllByName(host));

  List<InetAddress> resolve(String host) throws UnknownHostException;
}
