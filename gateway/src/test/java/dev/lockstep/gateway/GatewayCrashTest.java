package dev.lockstep.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.stripe.StripeClient;
import com.stripe.model.PaymentIntent;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The money is still there after {@code kill -9}, and who was to be told of it still is. */
class GatewayCrashTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @BeforeAll
  static void migrate() {
    TestGateway.migrate(database);
  }

  /** The process that is killed. Its webhooks go nowhere. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) throws InterruptedException {
      try (HikariDataSource pool = new HikariDataSource()) {
        pool.setJdbcUrl(args[0]);
        pool.setUsername(args[1]);
        pool.setPassword(args[2]);
        WebhookTarget nobody =
            new WebhookTarget(
                URI.create("http://127.0.0.1:1/"),
                Receiver.SECRET,
                Duration.ofSeconds(1),
                Duration.ofHours(1),
                Duration.ofHours(1),
                25,
                Duration.ofSeconds(2),
                Duration.ofHours(1));
        TestGateway gateway =
            TestGateway.start(pool, GatewayConfig.withKey(TestGateway.KEY).withWebhooks(nobody));
        System.out.println("listening " + gateway.url());
        new CountDownLatch(1).await();
      }
    }
  }

  @Test
  void whatWasAnsweredSurvivesAKill() throws Exception {
    PaymentIntent paid;
    try (ChildJvm child =
        ChildJvm.start(Child.class, database.url(), database.user(), database.password())) {
      String line = child.awaitLine(printed -> printed.startsWith("listening "));
      StripeClient stripe =
          StripeClient.builder()
              .setApiKey(TestGateway.KEY)
              .setApiBase(line.substring("listening ".length()))
              .build();
      paid =
          stripe
              .v1()
              .paymentIntents()
              .create(TestGateway.paying("pm_card_visa"), TestGateway.key("k1"));
      child.kill();
    }
    try (Receiver receiver = Receiver.accepting();
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      StripeClient stripe = gateway.client();
      assertThat(stripe.v1().paymentIntents().retrieve(paid.getId()).toJson())
          .isEqualTo(paid.toJson());
      assertThat(
              stripe
                  .v1()
                  .paymentIntents()
                  .create(TestGateway.paying("pm_card_visa"), TestGateway.key("k1"))
                  .getId())
          .isEqualTo(paid.getId());
      // It is due once its writer has had its time, or at its next attempt: the table knows.
      database.execute("UPDATE gateway.webhook SET due_at = now()");
      assertThat(receiver.take().body()).contains(paid.getId());
    }
  }
}
