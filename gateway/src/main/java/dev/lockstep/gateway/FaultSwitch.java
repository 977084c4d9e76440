package dev.lockstep.gateway;

/** The faults that are on now. Shared by the routes and the webhooks. Thread-safe. */
final class FaultSwitch {
  private volatile GatewayFaults current = GatewayFaults.NONE;

  GatewayFaults get() {
    return current;
  }

  void set(GatewayFaults faults) {
    current = faults;
  }
}
