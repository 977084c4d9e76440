package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class FingerprintTest {

  @Test
  void theSameRequestHasTheSameFingerprint() {
    Fingerprint one = Fingerprint.of("POST", "/holds", "{\"pool\":1}");
    Fingerprint other = Fingerprint.of("POST", "/holds", "{\"pool\":1}");

    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other);
    assertThat(Fingerprint.stored(one.bytes())).isEqualTo(one);
    assertThat(one.toString()).matches("[0-9a-f]{64}");
  }

  @Test
  void whereOnePartEndsAndTheNextBeginsCounts() {
    List<Fingerprint> all =
        List.of(
            Fingerprint.of("ab", "c"),
            Fingerprint.of("a", "bc"),
            Fingerprint.of("abc"),
            Fingerprint.of("abc", ""),
            Fingerprint.of("", "abc"),
            Fingerprint.of("c", "ab"),
            Fingerprint.of(""),
            Fingerprint.of(),
            Fingerprint.of("", ""),
            // What the length of a part looks like, inside of a part.
            Fingerprint.of("\0\0\0\1a"),
            Fingerprint.of("a"));

    assertThat(all).doesNotHaveDuplicates();
  }

  @Test
  void itNeverChangesBecauseStoredOnesOutliveAnUpgrade() {
    assertThat(Fingerprint.of("POST", "/holds", "né €"))
        .hasToString("6e5d72bcf55ee0d84e778f153f11ae844a4ad7fe3e902bb906cb9ab28dc009c2");
  }

  @Test
  void whoeverHasItsBytesCannotChangeIt() {
    Fingerprint fingerprint = Fingerprint.of("a");

    fingerprint.bytes()[0]++;

    assertThat(fingerprint).isEqualTo(Fingerprint.of("a"));
  }

  @Test
  void halfACharacterIsRefusedRatherThanTakenForAQuestionMark() {
    assertThatThrownBy(() -> Fingerprint.of("POST", "\uD83D"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(Fingerprint.of("\uD83D\uDE00")).isNotEqualTo(Fingerprint.of("??"));
  }
}
