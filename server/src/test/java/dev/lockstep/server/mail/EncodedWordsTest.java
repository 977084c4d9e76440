package dev.lockstep.server.mail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EncodedWordsTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "Happy birthday", "1 = 1?", "a=b", "Grüße =?utf-8?q?x?="})
  void whatNoReaderDecodesStaysAsItIs(String subject) {
    assertThat(EncodedWords.subject(subject)).isEqualTo(subject);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "=?utf-8?q?x=0d=0aBcc:_e@x.org?=",
        "=?",
        "before =?utf-8?b?eA==?= behind, and so long that one encoded word does not hold it all"
      })
  void whatLooksEncodedIsReadAsItWasGiven(String subject) {
    String[] words = EncodedWords.subject(subject).split(" ", -1);

    assertThat(words)
        .allSatisfy(word -> assertThat(word).hasSizeLessThanOrEqualTo(75))
        .allSatisfy(word -> assertThat(word).matches("=\\?UTF-8\\?B\\?[A-Za-z0-9+/]+=*\\?="));
    assertThat(
            Stream.of(words)
                .map(word -> word.substring("=?UTF-8?B?".length(), word.length() - 2))
                .map(word -> new String(Base64.getDecoder().decode(word), UTF_8))
                .collect(Collectors.joining()))
        .isEqualTo(subject);
  }
}
