package dev.lockstep.server.page;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.Handler;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/** Serves the pages and their assets. Thread-safe: immutable. */
public final class Pages {
  private static final String HTML = "text/html; charset=utf-8";
  private static final String CAMPAIGN = "[1-9]\\d{0,17}";
  private static final String SCENARIO = "[a-z0-9]+(?:-[a-z0-9]+)*";

  private static final String NO_SCRIPT =
      "<noscript><p>This page needs JavaScript. Everything it does can also be done through the"
          + " <a href=\"/docs\">API</a>.</p></noscript>\n";

  private static final String SHOP =
      """
      <main id="main" tabindex="-1">
      <h1>Sales</h1>
      <p class="tagline">Choose a sale. Stock is shown live.</p>
      %s<div id="message"></div>
      <ul id="sales" class="cards" aria-busy="true"></ul>
      </main>"""
          .formatted(NO_SCRIPT);

  private static final String SALE =
      """
      <main id="main" tabindex="-1">
      %s<div id="sale"><p class="quiet">Loading …</p></div>
      </main>"""
          .formatted(NO_SCRIPT);

  private static final String DRAW =
      """
      <main id="main" class="narrow" tabindex="-1">
      %s<div id="draw"><p class="quiet">Loading …</p></div>
      </main>"""
          .formatted(NO_SCRIPT);

  private static final String CONSOLE =
      """
      <main id="main" class="wide" tabindex="-1">
      %s<div id="console"><p class="quiet">Loading …</p></div>
      </main>"""
          .formatted(NO_SCRIPT);

  private static final String LAB =
      """
      <main id="main" %s tabindex="-1">
      %s<div id="lab"><p class="quiet">Loading …</p></div>
      </main>""";

  private Pages() {}

  /**
   * Mounts all of them.
   *
   * @param admit lets a client read a page, or answers that it asked too often. Assets are exempt:
   *     one page has dozens, which browsers keep.
   */
  public static void mountOn(Router router, Handler<RoutingContext> admit) {
    get(router.route("/"))
        .handler(admit)
        .handler(page("Shop · Lockstep", "/", "shop/shop.js", SHOP)::serve);
    get(router.route("/shop")).handler(admit).handler(context -> context.redirect("/"));
    get(router.routeWithRegex("/shop/" + CAMPAIGN))
        .handler(admit)
        .handler(page("Sale · Lockstep", "/", "shop/campaign.js", SALE)::serve);
    get(router.routeWithRegex("/shop/" + CAMPAIGN + "/draw"))
        .handler(admit)
        .handler(page("Draw · Lockstep", "/", "shop/draw.js", DRAW)::serve);
    get(router.route("/console"))
        .handler(admit)
        .handler(page("Console · Lockstep", "/console", "console/console.js", CONSOLE)::serve);
    get(router.route("/lab")).handler(admit).handler(lab("The lab", "lab/lab.js", "")::serve);
    get(router.route("/lab/matrix"))
        .handler(admit)
        .handler(lab("Matrix", "lab/matrix.js", "")::serve);
    get(router.routeWithRegex("/lab/" + SCENARIO))
        .handler(admit)
        .handler(lab("Scenario", "lab/run.js", "class=\"wide\"")::serve);
    Resource icon = Resource.revalidated(Assets.read("shared/icon.svg"), "image/svg+xml");
    get(router.route("/icon.svg")).handler(icon::serve);
    Assets.ALL
        .byName()
        .forEach(
            (name, asset) -> get(router.route(Assets.ALL.path() + name)).handler(asset::serve));
  }

  private static Resource lab(String title, String script, String width) {
    return page(title + " · Lockstep", "/lab", script, LAB.formatted(width, NO_SCRIPT));
  }

  private static Resource page(String title, String place, String script, String main) {
    return Resource.revalidated(
        PageFrame.scripted(title, place, script, main).getBytes(UTF_8), HTML);
  }

  private static Route get(Route route) {
    return route.method(HttpMethod.GET).method(HttpMethod.HEAD);
  }
}
