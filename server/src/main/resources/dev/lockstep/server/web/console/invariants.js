// Whether every record of the stock, and of the money, agrees with every other.

import { button, el, notice, show } from '../shared/dom.js';
import { get, post } from '../shared/api.js';
import { forOperator, plural, time } from '../shared/words.js';
import { head, prose, table } from './parts.js';

/** The check of every minute covers only changes, which may be none. */
function compared(checked) {
  if (!checked.pools && !checked.accounts) return 'No changes since the previous check';
  return `${plural(checked.pools, 'pool')} with ${plural(checked.changes, 'change')} and ${plural(checked.accounts, 'account')} with ${plural(checked.entries, 'entry', 'entries')} compared`;
}

/** A full check may continue after its request was answered. */
function goesOn(report) {
  if (!report.full || report.full.finishedAt) return null;
  return notice('warn', 'The full check continues.', `${plural(report.full.slices, 'slice')} so far, started ${time(report.full.startedAt)}.`);
}

export async function invariants(place) {
  const result = el('div', { 'aria-live': 'polite' });
  const draw = (report) => show(result, goesOn(report),
    report.ok
      ? notice('good', 'All records agree.', `${compared(report.checked)}, ${time(report.checkedAt)}.`)
      : notice('bad', `${plural(report.violations.length, 'violation')} found, ${time(report.checkedAt)}.`,
        'The affected pools are paused. Find out what else wrote to the tables before you resume them.'),
    report.violations.length ? table('Violations', ['Check', 'Campaign', 'Pool or account', 'What differs'], report.violations.map((one) => [
      one.check, el('a', { href: `#/campaigns/${one.campaign}` }, one.campaign), one.pool || one.account || 'all', prose(one.detail)]), ['', '']) : null);
  show(place.body,
    head('Invariants', button('Check now', { class: 'primary', id: 'check' }, async () => {
      try {
        draw(await post('/v1/invariants/check'));
      } catch (problem) {
        show(result, notice('bad', ...forOperator(problem)));
      }
    })),
    el('p', { class: 'quiet' }, 'Counters, holds, units and the audit trail are compared, and so are balances, entries and transfers: each minute what changed, now and then and with “Check now” everything. It changes nothing unless two records differ; then the pool is paused.'),
    result);
  draw(await get('/v1/invariants'));
}
