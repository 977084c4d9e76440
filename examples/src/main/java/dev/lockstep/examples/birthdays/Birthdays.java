package dev.lockstep.examples.birthdays;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/**
 * Plans greetings on a running server, with an operator's key. Used by one thread.
 *
 * <p>When the server refuses, the {@link IOException} has the server's message.
 */
public final class Birthdays {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
  private final URI server;
  private final String key;

  public Birthdays(URI server, String key) {
    this.server = server;
    this.key = key;
  }

  /** The secret that the server signs with for this receiver. */
  public String secretOf(URI receiver) throws IOException, InterruptedException {
    String url = URLEncoder.encode(receiver.toString(), StandardCharsets.UTF_8);
    return send("GET", "/v1/webhooks/secret?url=" + url, "").getString("secret");
  }

  // snippet: plan
  /** One schedule per person: at this time of their birthday, every year, on their own clock. */
  public List<String> plan(List<Person> people, LocalTime time, URI receiver)
      throws IOException, InterruptedException {
    List<String> schedules = new ArrayList<>();
    for (Person person : people) {
      JsonObject when =
          new JsonObject()
              .put("yearly", person.birthday().format(DateTimeFormatter.ofPattern("MM-dd")))
              .put("time", time.toString())
              .put("zone", person.zone().getId())
              .put("leapDay", "mar1"); // for people born on 29 February
      JsonObject deliver =
          new JsonObject()
              .put("webhook", receiver.toString())
              .put(
                  "body",
                  new JsonObject().put("name", person.name()).put("zone", person.zone().getId()));
      JsonObject made =
          send(
              "POST",
              "/v1/schedules",
              new JsonObject()
                  .put("name", person.name() + "'s birthday")
                  .put("when", when)
                  .put("deliver", deliver)
                  .encode());
      schedules.add(made.getString("id"));
    }
    return schedules;
  }

  // end: plan

  /** When a schedule greets next. */
  public String next(String schedule) throws IOException, InterruptedException {
    return send("GET", "/v1/schedules/" + schedule, "").getString("nextAt");
  }

  public void remove(List<String> schedules) throws IOException, InterruptedException {
    for (String schedule : schedules) {
      send("DELETE", "/v1/schedules/" + schedule, "");
    }
  }

  private JsonObject send(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve(path))
            .timeout(PATIENCE)
            .header("Authorization", "Bearer " + key)
            .method(
                method,
                body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    HttpResponse<String> response =
        http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    JsonObject answer = new JsonObject(response.body());
    if (response.statusCode() / 100 != 2) {
      throw new IOException(answer.getString("detail", "The server answered " + response));
    }
    return answer;
  }
}
