/**
 * What an operator can set: names, kinds of values, and the sources they come from (a file, the
 * environment, flags). Owns no tables. Knows no part of the server: each part reads its own
 * settings through {@link dev.lockstep.server.setting.SettingReader}, and what was read is the
 * table of settings.
 *
 * <p>A setting is declared where it is read, once, and from that declaration come its variable, its
 * flag, its check, its line in {@code ./lockstep settings} and its row in the documentation. A
 * secret is never shown and has no flag.
 */
@NullMarked
package dev.lockstep.server.setting;

import org.jspecify.annotations.NullMarked;
