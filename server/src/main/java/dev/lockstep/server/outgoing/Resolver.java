package dev.lockstep.server.outgoing;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Looks up the addresses of a name. May block. */
@FunctionalInterface
public interface Resolver {
  /** The system's resolver. */
  Resolver SYSTEM = host -> List.of(InetAddress.getAllByName(host));

  List<InetAddress> resolve(String host) throws UnknownHostException;
}
