package dev.lockstep.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldFilter;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.HoldsConfig;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.job.NewJob;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceConfig;
import dev.lockstep.once.OnceKey;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Inbox;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAction;
import dev.lockstep.tx.TxListener;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A null is refused by the name of its parameter, before anything is written: for each entry type
 * that applications call most, its constructors, and every public method that writes.
 */
class NullsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final Transactor transactor = new Transactor(database.dataSource());

  /** Something valid for each type of a parameter; what has none is not called. */
  private Map<Class<?>, Object> values(Connection connection) {
    ScopeId scope = new ScopeId(1);
    HoldId hold = HoldId.forKey(new BuyerId("ann"), "1");
    Map<Class<?>, Object> values = new HashMap<>();
    values.put(Connection.class, connection);
    values.put(DataSource.class, database.dataSource());
    values.put(TxListener.class, (TxListener) attempt -> {});
    values.put(Transactor.class, transactor);
    values.put(TxOptions.class, TxOptions.DEFAULT);
    values.put(TxWork.class, (TxWork<String>) c -> "");
    values.put(TxAction.class, (TxAction) c -> {});
    values.put(ScopeId.class, scope);
    values.put(PoolId.class, new PoolId(1));
    values.put(HoldId.class, hold);
    values.put(HoldCommand.class, new HoldCommand.Release(scope, hold, Actor.operator("test")));
    values.put(HoldFilter.class, HoldFilter.ALL);
    values.put(HoldsConfig.class, HoldsConfig.DEFAULT);
    values.put(BookId.class, new BookId(1));
    values.put(AccountId.class, new AccountId(1));
    values.put(LedgerConfig.class, LedgerConfig.DEFAULT);
    values.put(
        LedgerCommand.class,
        new LedgerCommand.Move(
            new BookId(1),
            TransferId.forKey("ann", "1"),
            new AccountId(1),
            new AccountId(2),
            new Money(1, "EUR")));
    values.put(OnceConfig.class, OnceConfig.DEFAULT);
    values.put(OnceKey.class, new OnceKey(1, "ann", "1"));
    values.put(Fingerprint.class, Fingerprint.of("1"));
    values.put(JobsConfig.class, JobsConfig.DEFAULT);
    values.put(NewJob.class, NewJob.of("queue", "kind", "{}"));
    values.put(NewEvent.class, NewEvent.of("stream", "key", "type", Content.json("{}")));
    values.put(String.class, "text");
    values.put(List.class, List.of());
    values.put(Duration.class, Duration.ofSeconds(1));
    values.put(Instant.class, Instant.EPOCH);
    values.put(Optional.class, Optional.empty());
    values.put(OptionalInt.class, OptionalInt.empty());
    values.put(OptionalLong.class, OptionalLong.empty());
    values.put(int.class, 1);
    values.put(long.class, 1L);
    return values;
  }

  @Test
  void aNullIsRefusedByName() throws Exception {
    List<String> unnamed = new ArrayList<>();
    int tried = 0;
    try (Connection connection = database.connection();
        Holds holds = new Holds(transactor);
        Ledger ledger = new Ledger(transactor)) {
      connection.setAutoCommit(false);
      Map<Class<?>, Object> values = values(connection);
      new Outbox(transactor).create("stream");
      List<Object> entries =
          List.of(
              transactor,
              holds,
              ledger,
              new Once(transactor),
              new Jobs(transactor),
              new Outbox(transactor),
              new Inbox(transactor, "consumer"));
      for (Object entry : entries) {
        for (Constructor<?> constructor : entry.getClass().getConstructors()) {
          tried += check(constructor, values, unnamed, constructor::newInstance);
        }
        for (Method method : entry.getClass().getMethods()) {
          // Its texts are ours.
          if (!method.getName().equals("requireOutsideHost")
              && method.getDeclaringClass() == entry.getClass()
              && !Modifier.isStatic(method.getModifiers())) {
            tried += check(method, values, unnamed, args -> method.invoke(entry, args));
            connection.rollback();
          }
        }
      }
      connection.setAutoCommit(true);
    }

    assertThat(tried).isGreaterThan(80);
    assertThat(unnamed).isEmpty();
  }

  @FunctionalInterface
  private interface Invocation {
    @Nullable Object with(@Nullable Object[] arguments) throws Exception;
  }

  /** Passes null for one parameter after the other. Returns how many calls it made. */
  private static int check(
      Executable executable,
      Map<Class<?>, Object> values,
      List<String> unnamed,
      Invocation invocation)
      throws Exception {
    Parameter[] parameters = executable.getParameters();
    int tried = 0;
    for (int i = 0; i < parameters.length; i++) {
      @Nullable Object[] arguments = new @Nullable Object[parameters.length];
      boolean known = true;
      for (int j = 0; j < parameters.length; j++) {
        arguments[j] = values.get(parameters[j].getType());
        known &= arguments[j] != null;
      }
      if (!known || parameters[i].getType().isPrimitive()) {
        continue;
      }
      arguments[i] = null;
      tried++;
      String name = parameters[i].getName();
      String outcome = outcome(invocation, arguments);
      if (!outcome.matches("(?s).*\\b" + name + "\\b.* is null.*")) {
        unnamed.add(
            "%s.%s(%s): %s"
                .formatted(
                    executable.getDeclaringClass().getSimpleName(),
                    executable.getName(),
                    name,
                    outcome));
      }
    }
    return tried;
  }

  private static String outcome(Invocation invocation, @Nullable Object[] arguments)
      throws Exception {
    try {
      Object unused = invocation.with(arguments);
      return "accepted";
    } catch (InvocationTargetException e) {
      Throwable thrown = e.getTargetException();
      return thrown instanceof NullPointerException || thrown instanceof IllegalArgumentException
          ? String.valueOf(thrown.getMessage())
          : thrown.toString();
    }
  }
}
