package dev.lockstep.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Distributes claimed jobs over requests, in the order of the requests. */
final class ClaimDistribution {
  private final List<ClaimAsk> asks;
  private final List<List<ClaimedJob>> given = new ArrayList<>();
  private int allowed = Integer.MAX_VALUE;
  private int taken;

  ClaimDistribution(List<ClaimAsk> asks) {
    this.asks = asks;
    asks.forEach(ask -> given.add(new ArrayList<>()));
  }

  /** Limits how many jobs are given in all. */
  void allow(int most) {
    allowed = most;
  }

  /** How many more jobs can be given. */
  int open() {
    int room = 0;
    for (int i = 0; i < asks.size(); i++) {
      room += asks.get(i).max() - given.get(i).size();
    }
    return Math.min(room, allowed - taken);
  }

  int taken() {
    return taken;
  }

  List<List<ClaimedJob>> given() {
    return given;
  }

  /** The requests that the next jobs go to. */
  List<ClaimAsk> next(int count) {
    return places(count).stream().map(asks::get).toList();
  }

  /**
   * Gives jobs to the requests that {@link #next} named, in that order. An empty job was not
   * claimed.
   */
  void give(List<Optional<ClaimedJob>> jobs) {
    List<Integer> places = places(jobs.size());
    for (int i = 0; i < jobs.size(); i++) {
      int place = places.get(i);
      jobs.get(i)
          .ifPresent(
              job -> {
                given.get(place).add(job);
                taken++;
              });
    }
  }

  private List<Integer> places(int count) {
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < asks.size(); i++) {
      int room = asks.get(i).max() - given.get(i).size();
      for (int n = 0; n < room && places.size() < count; n++) {
        places.add(i);
      }
    }
    return places;
  }
}
