package dev.lockstep.testkit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The main class of a {@link ChildJvm}: ends the child when its parent dies, then runs the class.
 */
final class ChildEntry {

  private static final int PARENT_DIED = 86;

  private ChildEntry() {}

  public static void main(String[] args) throws Throwable {
    Optional<CompletableFuture<Void>> watch =
        ProcessHandle.current()
            .parent()
            .map(parent -> parent.onExit().thenRun(() -> Runtime.getRuntime().halt(PARENT_DIED)));
    if (watch.isEmpty()) {
      throw new IllegalStateException("no parent process: ChildJvm.start runs this class");
    }
    Method main = Class.forName(args[0]).getDeclaredMethod("main", String[].class);
    // The class is often a test's nested, package-private class.
    main.setAccessible(true);
    try {
      main.invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
