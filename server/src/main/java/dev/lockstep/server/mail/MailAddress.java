package dev.lockstep.server.mail;

import java.util.regex.Pattern;

/** Recognizes mail addresses: local@domain in ASCII, without a name, quotes or comments. */
public final class MailAddress {
  public static final int MAX_LENGTH = 254;

  private static final String ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
  private static final String LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  private static final Pattern ADDRESS =
      Pattern.compile(
          "(?=[^@]{1,64}@)%s(?:\\.%s)*+@%s(?:\\.%s)*+".formatted(ATOM, ATOM, LABEL, LABEL));
  private static final Pattern NAMED =
      Pattern.compile("[^\\p{Cntrl}<>\"@,;:\\\\()\\[\\]]{1,100} <([^<>]*)>");

  private MailAddress() {}

  public static boolean is(String text) {
    return text.length() <= MAX_LENGTH && ADDRESS.matcher(text).matches();
  }

  /** Also accepts a display name: {@code The shop <shop@example.com>}. */
  public static boolean isNamed(String text) {
    var named = NAMED.matcher(text);
    return is(text) || (named.matches() && is(named.group(1)));
  }

  /** The part after the @, with or without a display name. */
  static String domain(String address) {
    String end = address.substring(address.lastIndexOf('@') + 1);
    return end.endsWith(">") ? end.substring(0, end.length() - 1) : end;
  }
}
