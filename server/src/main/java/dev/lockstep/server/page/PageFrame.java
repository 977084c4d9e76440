package dev.lockstep.server.page;

/** The HTML around every page's content. Nothing inline but text. */
public final class PageFrame {
  private static final String PAGE =
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>%1$s</title>
      <link rel="icon" href="/icon.svg" type="image/svg+xml">
      <link rel="stylesheet" href="%2$sstyle.css">
      %3$s</head>
      <body>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
      <a class="brand" href="/"><img src="/icon.svg" alt="" width="26" height="26">Lockstep</a>
      <nav aria-label="Main">
      %4$s</nav>
      </header>
      %5$s
      </body>
      </html>
      """;

  private static final String[][] PLACES = {
    {"/", "Shop"},
    {"/console", "Console"},
    {"/lab", "Lab"},
    {"/docs", "API"},
    {"/status", "Status"}
  };

  private PageFrame() {}

  /**
   * A page without a script.
   *
   * @param title text without markup
   * @param place the address that the navigation marks as current
   * @param main markup, already escaped
   */
  public static String of(String title, String place, String main) {
    return page(title, place, "", main);
  }

  /** A page whose content a script renders. */
  static String scripted(String title, String place, String script, String main) {
    String head = "<script type=\"module\" src=\"" + Assets.ALL.path() + script + "\"></script>\n";
    return page(title, place, head, main);
  }

  private static String page(String title, String place, String head, String main) {
    StringBuilder links = new StringBuilder();
    for (String[] link : PLACES) {
      links
          .append("<a href=\"")
          .append(link[0])
          .append(link[0].equals(place) ? "\" aria-current=\"page\">" : "\">")
          .append(link[1])
          .append("</a>\n");
    }
    return PAGE.formatted(title, Assets.ALL.path(), head, links, main);
  }
}
