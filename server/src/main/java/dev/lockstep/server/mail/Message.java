package dev.lockstep.server.mail;

import java.util.List;
import java.util.Optional;

/**
 * A mail.
 *
 * @param id names it over all attempts: letters, digits and hyphens
 * @param to addresses accepted by {@link MailAddress#is}
 * @param subject one line
 */
public record Message(
    String id, List<String> to, String subject, String text, Optional<String> html) {
  public static final int MAX_RECIPIENTS = 50;
  public static final int MAX_SUBJECT_LENGTH = 250;

  public Message {
    to = List.copyOf(to);
    if (!id.matches("[A-Za-z0-9-]{1,100}")) {
      throw new IllegalArgumentException("id must be letters, digits and hyphens");
    }
    if (to.isEmpty() || to.size() > MAX_RECIPIENTS || !to.stream().allMatch(MailAddress::is)) {
      throw new IllegalArgumentException(
          "to must have 1 to %d addresses".formatted(MAX_RECIPIENTS));
    }
    if (!isSubject(subject)) {
      throw new IllegalArgumentException(
          "subject must be one line of up to %d characters".formatted(MAX_SUBJECT_LENGTH));
    }
  }

  /** A line break in a header would start another header. */
  public static boolean isSubject(String text) {
    return text.length() <= MAX_SUBJECT_LENGTH
        && text.chars().noneMatch(c -> Character.isISOControl(c) || c == 0x2028 || c == 0x2029);
  }
}
