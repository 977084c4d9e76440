// How everything goes, now: what needs somebody, rates and latency of sales, and the campaigns.

import { el, notice, show } from './dom.js';
import { all, get } from './api.js';
import { plural, state, time } from './words.js';
import { badge, every, figure, head, name, table } from './console-parts.js';
import { plot } from './plot.js';
import { parse, quantile, sum } from './metrics.js';

const EVERY_MS = 2_000;
const LOOK_EVERY_MS = 10_000;
const DURATION = 'lockstep_purchase_duration_seconds';

export async function overview(place) {
  const sales = plot('Sales', 'per s');
  const latency = plot('Time of a purchase', 'ms', true);
  const requests = plot('Requests', 'per s');
  const needs = el('div', { 'aria-live': 'polite' });
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
      campaigns.filter((one) => one.status !== 'draft').reverse().map((one) => [
        name(el('a', { href: `#/campaigns/${one.id}`, id: `campaign-${one.id}` }, one.name)),
        badge(state(one), one.paused ? 'paused' : one.status), figure(one.free), figure(one.held), figure(one.sold), figure(one.total)]),
      ['Nothing has been published yet.', 'Create a campaign under Campaigns.']));
  }

  show(place.body, head('Overview'),
    needs,
    el('section', { class: 'block' }, el('h2', {}, 'Sales'), el('div', { class: 'plots' }, sales.root, latency.root, requests.root)),
    el('section', { class: 'block' }, el('h2', {}, 'Campaigns'), list));
  const look = async () => { show(needs, await attention()); };
  await Promise.all([look(), read()]);
  every(place, read, EVERY_MS);
  every(place, look, LOOK_EVERY_MS);
}

/** Everything that waits for a person, each with the way to it; or that there is nothing. */
async function attention() {
  const [report, money, queues, streams, database] = await Promise.all([
    get('/v1/invariants'), get('/v1/reconciliation'), get('/v1/queues'), all('/v1/streams'), get('/v1/database')]);
  const found = [];
  const add = (kind, part, title, next) => found.push(notice(kind, title, next, el('a', { href: `#/${part}`, id: `to-${part.replace(/\W/g, '-')}` }, 'Look at it')));
  if (!report.ok) add('bad', 'invariants', `${plural(report.violations.length, 'record')} disagree.`, 'The pools concerned are paused.');
  const open = money.moneyWithoutGoods.length + money.goodsWithoutMoney.length + money.unsettled.length;
  if (open) add('bad', 'reconciliation', `Money and goods disagree ${plural(open, 'time')}.`, 'Somebody paid for nothing, got something for nothing, or waits for too long.');
  for (const queue of queues.items.filter((one) => one.dead)) {
    add('warn', `jobs?queue=${encodeURIComponent(queue.name)}&state=dead`, `${plural(queue.dead, 'job')} of ${queue.name} failed for good.`, 'Retry them when what they stumbled over is mended, or cancel them.');
  }
  for (const queue of queues.items.filter((one) => one.paused)) add('warn', 'queues', `The queue ${queue.name} is paused.`, queue.pauseReason || '');
  for (const stream of streams) {
    for (const sink of stream.sinks) {
      const part = `streams/${encodeURIComponent(stream.name)}`;
      if (sink.down !== null) add('bad', part, `The sink ${sink.name} of ${stream.name} is down.`, `${sink.down}. It is tried again by itself.`);
      else if (sink.parked) add('warn', part, `${plural(sink.parked, 'key')} of ${stream.name} parked at ${sink.name}.`, 'Retry them, or skip what is refused.');
    }
  }
  if (database.level !== 'ok') add(database.level === 'critical' ? 'bad' : 'warn', 'database', `The database’s health: ${database.level}.`, 'Its page says what to do.');
  if (!found.length) return notice('good', 'Nothing needs you.', `All records agree (checked ${time(report.checkedAt)}), no job is dead, every sink keeps up, and the database is well.`);
  const bad = (one) => (one.classList.contains('bad') ? 0 : 1);
  return [...found.sort((a, b) => bad(a) - bad(b)), report.ok ? el('p', { class: 'quiet' }, `All records agree, checked ${time(report.checkedAt)}.`) : null];
}
