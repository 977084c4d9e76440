// Whether every record of the stock, and of the money, agrees with every other.

import { button, el, notice, show } from './dom.js';
import { get, post } from './api.js';
import { forOperator, plural, time } from './words.js';
import { head, name, table } from './console-parts.js';

export async function invariants(place) {
  const result = el('div', { 'aria-live': 'polite' });
  const draw = (report) => show(result,
    report.ok
      ? notice('good', 'All records agree.', `${plural(report.checked.pools, 'pool')} with ${plural(report.checked.changes, 'change')} and ${plural(report.checked.accounts, 'account')} with ${plural(report.checked.entries, 'entry', 'entries')} compared, ${time(report.checkedAt)}.`)
      : notice('bad', `${plural(report.violations.length, 'violation')} found, ${time(report.checkedAt)}.`,
        'The pools concerned are paused. Find out what wrote to the tables beside the server before you resume them.'),
    report.violations.length ? table('Violations', ['Check', 'Campaign', 'Pool or account', 'What differs'], report.violations.map((one) => [
      one.check, el('a', { href: `#/campaigns/${one.campaign}` }, one.campaign), one.pool || one.account || 'all', name(one.detail)]), ['', '']) : null);
  show(place.body,
    head('Invariants', button('Check now', { class: 'primary', id: 'check' }, async () => {
      try {
        draw(await post('/v1/invariants/check'));
      } catch (problem) {
        show(result, notice('bad', ...forOperator(problem)));
      }
    })),
    el('p', { class: 'quiet' }, 'Counters, holds, units and the audit trail are compared in one snapshot, and so are balances, entries and transfers: each minute what changed, with “Check now” everything. It changes nothing unless two records differ; then the pool is paused.'),
    result);
  draw(await get('/v1/invariants'));
}
