package dev.lockstep.server.cart;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldId;
import dev.lockstep.server.api.Problem;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A hold's id as clients know it: the campaign, a dot, the hold. */
public record CartId(long campaign, HoldId hold) {
  private static final Pattern FORM =
      Pattern.compile("([1-9]\\d{0,17})\\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

  public static CartId of(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw Problem.notFound("such hold").asException();
    }
    return new CartId(Long.parseLong(matcher.group(1)), HoldId.of(matcher.group(2)));
  }

  public static CartId of(Hold hold) {
    return new CartId(hold.scope().value(), hold.id());
  }

  @Override
  public String toString() {
    return campaign + "." + hold;
  }
}
