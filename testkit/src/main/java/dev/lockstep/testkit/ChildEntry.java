package dev.lockstep.testkit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Where a {@link ChildJvm} begins: it sees to it that the child does not outlive its parent, then
 * runs the class.
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
      throw new IllegalStateException("a child without a parent");
    }
    Method main = Class.forName(args[0]).getDeclaredMethod("main", String[].class);
    // The class is often a nested, package-private one of a test.
    main.setAccessible(true);
    try {
      main.invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
