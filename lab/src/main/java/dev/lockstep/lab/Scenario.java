package dev.lockstep.lab;

import java.util.regex.Pattern;

/** A race: a question, and two scripts that answer it. Immutable; runs share nothing else. */
public final class Scenario {
  private static final Pattern ID = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*+");

  private final String id;
  private final Group group;
  private final String title;
  private final String question;
  private final String why;
  private final String cure;
  private final Script naive;
  private final Script lockstep;

  Scenario(
      String id,
      Group group,
      String title,
      String question,
      String why,
      String cure,
      Script naive,
      Script lockstep) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException("id '" + id + "'");
    }
    this.id = id;
    this.group = group;
    this.title = title;
    this.question = oneLine(question);
    this.why = oneLine(why);
    this.cure = oneLine(cure);
    this.naive = naive;
    this.lockstep = lockstep;
  }

  /** URL-safe: {@code last-unit}. */
  public String id() {
    return id;
  }

  public Group group() {
    return group;
  }

  public String title() {
    return title;
  }

  /** The question a run answers. */
  public String question() {
    return question;
  }

  /** Why it happens, and why a level prevents it. */
  public String why() {
    return why;
  }

  /** What to do about it, and what Lockstep does. */
  public String cure() {
    return cure;
  }

  @Override
  public String toString() {
    return id;
  }

  Script script(Variant variant) {
    return variant == Variant.NAIVE ? naive : lockstep;
  }

  /** The texts are multi-line text blocks. */
  private static String oneLine(String text) {
    return text.strip().replaceAll("\\s+", " ");
  }
}
