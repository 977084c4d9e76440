// The current state: what needs attention, rates and latency of sales, and the campaigns.

import { announce, el, notice, redraw, say, show } from '../shared/dom.js';
import { all, get, text } from '../shared/api.js';
import { plural, state, time } from '../shared/words.js';
import { badge, every, figure, head, name, table } from './parts.js';
import { plot } from './plot.js';
import { parse, quantile, sum } from './metrics.js';

const EVERY_MS = 2_000;
const LOOK_EVERY_MS = 10_000;
const DURATION = 'lockstep_purchase_duration_seconds';

export async function overview(place) {
  const sales = plot('Sales', 'per s');
  const latency = plot('Purchase latency', 'ms', true);
  const requests = plot('Requests', 'per s');
  const needs = el('div', {});
  const checked = el('p', { class: 'quiet' });
  const list = el('div', {});
  let before = null;

  async function read() {
    const [campaigns, figures] = await Promise.all([all('/v1/campaigns'), text('/metrics')]);
    const metrics = parse(figures);
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
    redraw(list, table('Campaigns now', ['Campaign', 'State', 'Free', 'Held', 'Sold', 'Total'],
      campaigns.filter((one) => one.status !== 'draft').reverse().map((one) => [
        name(el('a', { href: `#/campaigns/${one.id}`, id: `campaign-${one.id}` }, one.name)),
        badge(state(one), one.paused ? 'paused' : one.status), figure(one.free), figure(one.held), figure(one.sold), figure(one.total)]),
      ['No campaign is published yet.', 'Create a campaign under Campaigns.']));
  }

  show(place.body, head('Overview'),
    needs, checked,
    el('section', { class: 'block' }, el('h2', {}, 'Sales'), el('div', { class: 'plots' }, sales.root, latency.root, requests.root)),
    el('section', { class: 'block' }, el('h2', {}, 'Campaigns'), list));
  let told = null;
  const look = async () => {
    const found = await attention((text) => say(checked, text));
    redraw(needs, found);
    // Announced when it changes, not at every reading.
    const titles = found.map((one) => one.firstChild.textContent).join(' ');
    if (titles !== told) announce(titles);
    told = titles;
  };
  await Promise.all([look(), read()]);
  every(place, read, EVERY_MS);
  every(place, look, LOOK_EVERY_MS);
}

/** Everything that needs a person, each with a link; or that there is nothing. */
async function attention(onChecked) {
  const [report, money, queues, streams, database] = await Promise.all([
    get('/v1/invariants'), get('/v1/reconciliation?latest=true'), get('/v1/queues'), all('/v1/streams'), get('/v1/database')]);
  const found = [];
  onChecked(`Records compared ${time(report.checkedAt)}.`);
  const add = (kind, title, next, part, label) => found.push(notice(kind, title, next, el('a', { href: `#/${part}`, id: `to-${found.length}-${part.replace(/\W/g, '-')}` }, label)));
  if (!report.ok) add('bad', `Records disagree: ${plural(report.violations.length, 'violation')}.`, 'The affected pools are paused.', 'invariants', 'View invariants');
  const open = Object.values(money.kinds).reduce((total, count) => total + count, 0);
  if (open) {
    add('bad', `Money and goods disagree: ${plural(open, 'finding')}.`, 'A buyer paid without goods, got goods without paying, or has waited too long; or the provider disagrees.', 'reconciliation', 'View reconciliation');
  }
  for (const queue of queues.items.filter((one) => one.dead)) {
    add('warn', `${plural(queue.dead, 'job')} of ${queue.name} failed permanently.`, 'Fix the cause and retry them, or cancel them.',
      `jobs?queue=${encodeURIComponent(queue.name)}&state=dead`, 'View dead jobs');
  }
  for (const queue of queues.items.filter((one) => one.paused)) add('warn', `The queue ${queue.name} is paused.`, queue.pauseReason || '', 'queues', 'View queues');
  for (const stream of streams) {
    for (const sink of stream.sinks) {
      const part = `streams/${encodeURIComponent(stream.name)}`;
      if (sink.down !== null) add('bad', `The sink ${sink.name} of ${stream.name} is down.`, `${sink.down}. The relay keeps retrying.`, part, `View stream ${stream.name}`);
      else if (sink.parked) add('warn', `${plural(sink.parked, 'key')} of ${stream.name} parked at ${sink.name}.`, 'Retry them, or skip the refused events.', part, `View stream ${stream.name}`);
    }
  }
  if (database.level !== 'ok') add(database.level === 'critical' ? 'bad' : 'warn', `The database’s health: ${database.level}.`, 'Its page says what to do.', 'database', 'View database');
  if (!found.length) return [notice('good', 'Nothing needs attention.', 'All records agree, no job is dead, no queue is paused, every sink accepts its events, and the database is healthy.')];
  const bad = (one) => (one.classList.contains('bad') ? 0 : 1);
  return found.sort((a, b) => bad(a) - bad(b));
}
