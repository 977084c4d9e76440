/**
 * What an operator can set: names, kinds of values, and their sources (a file, the environment,
 * flags). Owns no tables. Knows nothing of the server: each part reads its own settings through
 * {@link dev.lockstep.server.setting.SettingReader}, and what was read is the table of settings.
 *
 * <p>A setting is declared once, where it is read. Its variable, flag, check, line in {@code
 * ./lockstep settings} and row in the documentation come from that declaration. A secret is never
 * shown and has no flag.
 */
@NullMarked
package dev.lockstep.server.setting;

import org.jspecify.annotations.NullMarked;
