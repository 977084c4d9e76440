package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The shape of the Grafana dashboard, since there is no Grafana here to load it. */
class DashboardTest {
  private static final int COLUMNS = 24;

  private record Place(String title, int x, int y, int w, int h) {
    boolean overlaps(Place other) {
      return x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h;
    }
  }

  private static JsonObject dashboard() throws IOException {
    return new JsonObject(
        Files.readString(Repository.root().resolve("ops/grafana-dashboard.json")));
  }

  private static List<JsonObject> panels() throws IOException {
    return dashboard().getJsonArray("panels").stream().map(JsonObject.class::cast).toList();
  }

  private static List<JsonObject> targets(JsonObject panel) {
    return panel.getJsonArray("targets").stream().map(JsonObject.class::cast).toList();
  }

  private static boolean isRow(JsonObject panel) {
    return panel.getString("type").equals("row");
  }

  /** Every expression of every panel. */
  static List<String> expressions() throws IOException {
    return panels().stream()
        .filter(panel -> !isRow(panel))
        .flatMap(panel -> targets(panel).stream())
        .map(target -> target.getString("expr"))
        .toList();
  }

  @Test
  void everyPanelHasAnIdATitleAndAPlaceOfItsOwn() throws Exception {
    List<Place> places = new ArrayList<>();
    for (JsonObject panel : panels()) {
      JsonObject grid = panel.getJsonObject("gridPos");
      Place place =
          new Place(
              panel.getString("title"),
              grid.getInteger("x"),
              grid.getInteger("y"),
              grid.getInteger("w"),
              grid.getInteger("h"));
      assertThat(place.title()).isNotBlank();
      assertThat(place.x()).isNotNegative();
      assertThat(place.w()).isPositive();
      assertThat(place.h()).isPositive();
      assertThat(place.x() + place.w()).as(place.title()).isLessThanOrEqualTo(COLUMNS);
      assertThat(places).noneMatch(place::overlaps);
      places.add(place);
    }
    assertThat(panels()).extracting(panel -> panel.getInteger("id")).doesNotHaveDuplicates();
    assertThat(places).extracting(Place::title).doesNotHaveDuplicates();
  }

  @Test
  void panelsStandInRowsWithTitles() throws Exception {
    List<JsonObject> panels = panels();
    assertThat(isRow(panels.get(0))).isTrue();
    assertThat(panels.stream().filter(DashboardTest::isRow).map(row -> row.getString("title")))
        .contains("Streams", "Database", "Checks and reconciliation", "Jobs");
    for (int i = 0; i + 1 < panels.size(); i++) {
      assertThat(isRow(panels.get(i)) && isRow(panels.get(i + 1)))
          .as("an empty row: %s", panels.get(i).getString("title"))
          .isFalse();
    }
  }

  @Test
  void everyPanelAsksTheChosenDataSource() throws Exception {
    for (JsonObject panel : panels()) {
      if (isRow(panel)) {
        assertThat(panel.getJsonArray("panels")).isEmpty();
        continue;
      }
      assertThat(panel.getString("type")).isIn(Set.of("stat", "timeseries"));
      assertThat(panel.getJsonObject("datasource").getString("uid")).isEqualTo("${datasource}");
      assertThat(targets(panel)).isNotEmpty();
      assertThat(targets(panel))
          .extracting(target -> target.getString("refId"))
          .doesNotHaveDuplicates();
      assertThat(targets(panel))
          .allSatisfy(target -> assertThat(target.getString("expr")).isNotBlank());
    }
  }
}
