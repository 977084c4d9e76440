package dev.lockstep.server.api;

/** Carries a problem to where it is answered. It has no stack trace: nobody would read it. */
public final class ProblemException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;

  ProblemException(Problem problem) {
    super(problem.slug() + ": " + problem.detail(), null, false, false);
    this.problem = problem;
  }

  public Problem problem() {
    return problem;
  }
}
