package dev.lockstep.server;

/** What a server's metrics say at this moment. */
record Figures(Client client) {
  /** Of one series, written as Prometheus has it; 0 if it is not there. */
  double of(String series) throws Exception {
    return text()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .findFirst()
        .orElse(0);
  }

  /** Over all series of a name. */
  double sum(String name) throws Exception {
    return text()
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /**
   * How many observations of a histogram lie above a bound.
   *
   * @param labels as Prometheus has them, without {@code le}
   */
  double above(String bound, String histogram, String labels) throws Exception {
    return of("%s_bucket{%s,le=\"+Inf\"}".formatted(histogram, labels))
        - of("%s_bucket{%s,le=\"%s\"}".formatted(histogram, labels, bound));
  }

  boolean has(String series) throws Exception {
    return text().lines().anyMatch(line -> line.startsWith(series + " "));
  }

  private String text() throws Exception {
    return client.get("/metrics").response().body();
  }
}
