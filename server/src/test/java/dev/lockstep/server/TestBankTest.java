package dev.lockstep.server;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** 3-D Secure with a test card: who may approve what. */
@Timeout(120)
class TestBankTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final JsonObject APPROVED = new JsonObject().put("approved", true);

  @Test
  void onlyTheBuyerApprovesAndOnlyWhatWaits() throws Exception {
    String id = server.triangle(3, null);
    Client buyer = server.visitor();
    JsonObject order =
        new JsonObject().put("layer", 3).put("paymentMethod", "pm_card_authenticationRequired");
    JsonObject purchase = buyer.post("/v1/campaigns/" + id + "/purchases", "k", order).expect(202);
    String path = "/v1/purchases/" + purchase.getString("id");

    server.visitor().post(path + "/authenticate", APPROVED).expectProblem(404, "not-found");
    buyer.post(path + "/authenticate", new JsonObject()).expectProblem(400, "invalid-request");
    buyer.post("/v1/purchases/x/authenticate", APPROVED).expectProblem(404, "not-found");
    buyer.post(path + "/authenticate", APPROVED).expect(202);
    Await.until("the purchase is completed", () -> status(buyer, path).equals("completed"));
    buyer.post(path + "/authenticate", APPROVED).expectProblem(409, "nothing-to-approve");
  }

  private static String status(Client buyer, String path) throws Exception {
    server.passSeconds(1);
    return buyer.get(path).expect(200).getString("status");
  }
}
