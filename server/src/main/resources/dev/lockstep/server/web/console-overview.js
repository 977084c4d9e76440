// How the sale goes, now: rates, latency, whether all records agree.

import { el, notice, show } from './dom.js';
import { all, get } from './api.js';
import { count, plural, state, time } from './words.js';
import { badge, head, name, table } from './console-parts.js';
import { plot } from './plot.js';
import { parse, quantile, sum } from './metrics.js';

const EVERY_MS = 2_000;
const DURATION = 'lockstep_purchase_duration_seconds';

export async function overview(place) {
  const sales = plot('Sales', 'per s');
  const latency = plot('Time of a purchase', 'ms', true);
  const requests = plot('Requests', 'per s');
  const checks = el('div', {});
  const list = el('div', {});
  let before = null;

  async function read() {
    const [campaigns, text] = await Promise.all([all('/v1/campaigns'), fetch('/metrics', { cache: 'no-store' }).then((answer) => answer.text())]);
    const metrics = parse(text);
    const now = {
      at: performance.now(), metrics,
      sold: campaigns.reduce((total, campaign) => total + campaign.sold, 0),
      requests: sum(metrics, 'lockstep_http_requests_total'),
    };
    if (before) {
      const seconds = (now.at - before.at) / 1000;
      const ms = (share) => {
        const found = quantile(before.metrics, metrics, DURATION, share);
        return found === null ? null : found * 1000;
      };
      sales.add(Math.max(0, now.sold - before.sold) / seconds);
      latency.add(ms(0.5), ms(0.95));
      requests.add(Math.max(0, now.requests - before.requests) / seconds);
    }
    before = now;
    show(list, table('Campaigns now', ['Campaign', 'State', 'Free', 'Held', 'Sold', 'Total'],
      campaigns.filter((one) => one.status !== 'draft').map((one) => [
        name(el('a', { href: `#/campaigns/${one.id}` }, one.name)),
        badge(state(one), one.paused ? 'paused' : one.status), count(one.free), count(one.held), count(one.sold), count(one.total)]),
      ['Nothing has been published yet.', 'Create a campaign under Campaigns.']));
  }

  show(place.body, head('Overview'),
    el('div', { class: 'plots' }, sales.root, latency.root, requests.root),
    el('section', { class: 'block' }, el('h2', {}, 'Records'), checks),
    el('section', { class: 'block' }, el('h2', {}, 'Campaigns'), list));

  const report = await get('/v1/invariants');
  show(checks, report.ok
    ? notice('good', 'All records agree.', `${plural(report.checked.pools, 'pool')} and ${plural(report.checked.changes, 'change')} checked ${time(report.checkedAt)}.`)
    : notice('bad', `${plural(report.violations.length, 'violation')} found.`, 'The pools concerned are paused. See Invariants.', el('a', { href: '#/invariants' }, 'Invariants')));
  await read();
  const timer = setInterval(() => { if (!document.hidden) read().catch(() => {}); }, EVERY_MS);
  place.onLeave(() => clearInterval(timer));
}
