/**
 * What an operator can set: names, kinds of values, and their sources (a file, the environment,
 * flags).
 *
 * <p>Start with {@link dev.lockstep.server.setting.SettingReader}. A setting is declared once,
 * where it is read. Its variable, flag, check, line in {@code ./lockstep settings} and row in the
 * documentation come from that declaration. A secret is never shown and has no flag.
 *
 * <p>Knows nothing of the server: each part reads its own settings. Owns no table and locks
 * nothing.
 */
@NullMarked
package dev.lockstep.server.setting;

import org.jspecify.annotations.NullMarked;
