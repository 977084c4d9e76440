package dev.lockstep.spring;

import dev.lockstep.once.Claim;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.tx.Transactor;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Runs {@link Idempotent} methods once for each key. */
public final class IdempotentInterceptor implements MethodInterceptor {
  private static final DefaultParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
  private static final SpelExpressionParser PARSER = new SpelExpressionParser();

  private final Supplier<Transactor> transactor;
  private final Supplier<Once> once;
  private final Supplier<PlatformTransactionManager> transactions;
  private final Supplier<JsonCodec> json;

  /**
   * @param transactor joins Spring's transactions
   */
  public IdempotentInterceptor(
      Supplier<Transactor> transactor,
      Supplier<Once> once,
      Supplier<PlatformTransactionManager> transactions,
      Supplier<JsonCodec> json) {
    this.transactor = transactor;
    this.once = once;
    this.transactions = transactions;
    this.json = json;
  }

  /** Carries what the method threw out of the template. */
  private static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Throwable thrown;

    Thrown(Throwable thrown) {
      super(thrown);
      this.thrown = thrown;
    }
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Object target = Objects.requireNonNull(invocation.getThis());
    Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), target.getClass());
    Idempotent idempotent =
        Optional.ofNullable(AnnotatedElementUtils.findMergedAnnotation(method, Idempotent.class))
            .orElseThrow();
    EvaluationContext values =
        new MethodBasedEvaluationContext(target, method, invocation.getArguments(), NAMES);
    OnceKey key =
        new OnceKey(
            idempotent.scope(),
            text("owner", idempotent.owner(), values),
            text("key", idempotent.key(), values));
    Object request = PARSER.parseExpression(idempotent.request()).getValue(values);
    Fingerprint fingerprint =
        Fingerprint.of(
            method.getDeclaringClass().getName() + "." + method.getName(),
            json.get().write(request));
    try {
      return new TransactionTemplate(transactions.get())
          .execute(status -> once(invocation, method, key, fingerprint));
    } catch (Thrown e) {
      throw e.thrown;
    }
  }

  private static String text(String what, String expression, EvaluationContext values) {
    Object value = PARSER.parseExpression(expression).getValue(values);
    if (value == null || value.toString().isBlank()) {
      throw new IllegalArgumentException(
          "The %s of this request is missing: %s is empty".formatted(what, expression));
    }
    return value.toString();
  }

  private @Nullable Object once(
      MethodInvocation invocation, Method method, OnceKey key, Fingerprint fingerprint) {
    // Not one call for all: what the method throws must roll back, not doom.
    Claim claim = transactor.get().call(c -> once.get().claim(c, key, fingerprint));
    try {
      if (claim instanceof Claim.Answered answered) {
        return json.get().read(answered.answer(), method.getGenericReturnType());
      }
      if (!(claim instanceof Claim.Fresh fresh)) {
        boolean inUse = claim instanceof Claim.InUse;
        throw new IdempotencyRefused(
            inUse
                ? "The first request with this idempotency key is still under way"
                : "This idempotency key was used for another request",
            inUse);
      }
      Object result = invocation.proceed();
      String answer = json.get().write(result);
      transactor.get().run(c -> once.get().answer(c, fresh, answer));
      return result;
    } catch (Throwable e) {
      throw new Thrown(e);
    }
  }
}
