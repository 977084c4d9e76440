package dev.lockstep.lab;

import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * The lab on the tests' server, and what it makes of the whole catalogue, played once for all
 * tests.
 */
final class LabServer implements BeforeAllCallback, AfterAllCallback {
  final TestDatabase database = TestDatabase.empty();
  private Played played = new Played(new Lab(new LabConfig("jdbc:postgresql:", Map.of())));

  /** One lab for the run of all classes. */
  private static final class Played implements AutoCloseable {
    final Lab lab;
    private Matrix matrix = new Matrix("", List.of());

    Played(Lab lab) {
      this.lab = lab;
    }

    synchronized Matrix matrix() {
      if (matrix.rows().isEmpty()) {
        matrix = lab.matrix(next -> {});
      }
      return matrix;
    }

    @Override
    public void close() {
      lab.close();
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    database.beforeAll(context);
    played =
        context
            .getRoot()
            .getStore(Namespace.create(LabServer.class))
            .getOrComputeIfAbsent(Played.class, type -> new Played(newLab()), Played.class);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    database.afterAll(context);
  }

  Lab lab() {
    return played.lab;
  }

  Matrix matrix() {
    return played.matrix();
  }

  /** Another lab on the same server; close it. */
  Lab newLab() {
    return new Lab(config());
  }

  /** As the server's superuser, in a database that every server has. */
  LabConfig config() {
    return new LabConfig(
        database.server().url("postgres"),
        Map.of("user", database.user(), "password", database.password()));
  }
}
