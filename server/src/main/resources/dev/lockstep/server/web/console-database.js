// The health of the database: what is wrong and what to do, who waits for whom, what is old and what is dirty.

import { button, el, notice, show, svg } from './dom.js';
import { get } from './api.js';
import { count, time } from './words.js';
import { badge, code, head, name, table } from './console-parts.js';

const WORDS = {
  lockWaitSeconds: ['Longest wait for a lock', seconds],
  lockTimeoutShare: ['Transactions that gave up waiting', share],
  conflictShare: ['Transactions that conflicted', share],
  deadlocks: ['Deadlocks since the start', count],
  transactionSeconds: ['Oldest transaction', seconds],
  idleInTransactionSeconds: ['Longest idle in a transaction', seconds],
  poolShare: ['Pooled connections in use', share],
  deadRowShare: ['Dead rows for each live one', share],
  transactionIdAge: ['Age of the oldest transaction id', count],
  replicationLagSeconds: ['A replica is behind by', seconds],
  cacheMissShare: ['Blocks read from outside its memory', share],
};
const BADGE = { ok: 'completed', warning: 'pending', critical: 'failed' };
const figure = (text) => el('td', { class: 'figure' }, text);

function seconds(number) {
  if (number === null) return '–';
  return number < 120 ? `${number.toFixed(number < 10 ? 1 : 0)} s` : `${count(Math.round(number / 60))} min`;
}

function share(number) {
  return `${(100 * number).toFixed(number > 0 && number < 0.1 ? 1 : 0)} %`;
}

export async function database(place) {
  const again = () => database(place).catch(place.failed);
  const now = await get('/v1/database');
  const bad = now.findings.filter((one) => one.level !== 'ok');
  show(place.body,
    head('Database', badge(now.level, BADGE[now.level]), button('Look again', { id: 'again' }, again)),
    el('p', { class: 'quiet' }, `As PostgreSQL said ${time(now.checkedAt)}.`),
    bad.length ? bad.map((one) => notice(one.level === 'critical' ? 'bad' : 'note', `${WORDS[one.name][0]}: ${WORDS[one.name][1](one.value)}`, one.advice))
      : notice('good', 'The database is well.', 'Nothing that is watched has reached its warning.'),
    el('section', { class: 'block' }, el('h2', {}, 'Who waits for whom'), graph(now.sessions)),
    findings(now.findings), sessions(now.sessions), tables(now), facts(now));
}

function findings(all) {
  return el('section', { class: 'block' }, el('h2', {}, 'What is watched'),
    table('What is watched', ['What', 'Now', 'Warning from', 'Critical from', 'Level'], all.map((one) => {
      const [words, format] = WORDS[one.name];
      return [name(words), figure(format(one.value)), figure(one.warningAt < 0.0001 ? 'any' : format(one.warningAt)), figure(format(one.criticalAt)), badge(one.level, BADGE[one.level])];
    }), ['', '']));
}

function sessions(all) {
  const open = all.filter((one) => one.transactionSeconds !== null);
  return el('section', { class: 'block' }, el('h2', {}, 'Longest transactions'),
    table('Longest transactions', ['Process', 'State', 'Open for', 'In this state for', 'Statement'], open.slice(0, 20).map((one) => [
      code(String(one.pid)), one.state, figure(seconds(one.transactionSeconds)), figure(seconds(one.stateSeconds)), name(code(one.query))]),
    ['No transaction is open.', 'At this moment nobody is in one.']));
}

function tables(now) {
  return el('section', { class: 'block' }, el('h2', {}, 'Tables'),
    table('Tables', ['Table', 'Live rows', 'Dead rows', 'Last vacuum', 'Age of its ids'], now.tables.map((one) => [
      code(one.name), figure(count(one.live)), figure(count(one.dead)), time(one.vacuumedAt), figure(count(one.transactionIdAge))]), ['No table.', '']));
}

function facts(now) {
  const fact = (label, value) => el('div', {}, el('dt', {}, label), el('dd', {}, value));
  return el('dl', { class: 'block' },
    fact('Pool', `${now.pool.active} of ${now.pool.max} in use, ${now.pool.waiting} waiting`),
    fact('Until transaction ids run out', count(now.transactionIds.untilWraparound)),
    fact('Serialization failures', `${count(now.sinceStart.serializationFailures)} in ${count(now.sinceStart.transactions)} transactions since the start`),
    fact('Blocks found in memory', share(now.sinceStart.cacheHitShare)),
    fact('Replicas', now.replicas.length ? now.replicas.map((one) => `${one.name}: ${one.state}, ${seconds(one.lagSeconds)} behind`).join('; ') : 'none'));
}

/** Those who have a lock on the left, those who wait for it to their right, an arrow for each wait. */
function graph(all) {
  const byPid = new Map(all.map((one) => [one.pid, one]));
  const waiting = all.filter((one) => one.blockedBy.length);
  if (!waiting.length) return notice('good', 'Nobody waits for a lock.', '');
  const shown = new Set(waiting.flatMap((one) => [one.pid, ...one.blockedBy]));
  const columns = new Map();
  // A ring, which is a deadlock, ends where it began.
  const column = (pid, seen = new Set()) => {
    if (columns.has(pid)) return columns.get(pid);
    const blockers = seen.has(pid) ? [] : byPid.get(pid)?.blockedBy ?? [];
    seen.add(pid);
    const found = blockers.length ? 1 + Math.max(...blockers.map((one) => column(one, seen))) : 0;
    columns.set(pid, found);
    return found;
  };
  const rows = [];
  const at = new Map();
  for (const pid of [...shown].sort((a, b) => column(a) - column(b))) {
    const x = column(pid);
    rows[x] = (rows[x] ?? 0) + 1;
    at.set(pid, { x: 10 + x * 250, y: 10 + (rows[x] - 1) * 64 });
  }
  const width = Math.max(...[...at.values()].map((one) => one.x)) + 200;
  const height = Math.max(...[...at.values()].map((one) => one.y)) + 60;
  const arrows = waiting.flatMap((one) => one.blockedBy.map((blocker) => {
    const from = at.get(one.pid);
    const to = at.get(blocker);
    return svg('line', { x1: from.x, y1: from.y + 24, x2: to.x + 186, y2: to.y + 24, class: 'wait', 'marker-end': 'url(#arrow)' });
  }));
  const boxes = [...at].map(([pid, { x, y }]) => {
    const session = byPid.get(pid);
    return svg('g', { class: session?.blockedBy.length ? 'waits' : 'has' },
      svg('rect', { x, y, width: 180, height: 48, rx: 6 }),
      svg('text', { x: x + 10, y: y + 20 }, `Process ${pid}`),
      svg('text', { x: x + 10, y: y + 38, class: 'small' }, session ? `${session.state}, ${seconds(session.stateSeconds)}` : 'of another database'));
  });
  const words = waiting.map((one) => `${one.pid} waits for ${one.blockedBy.join(' and ')}`).join('; ');
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Lock graph' },
    svg('svg', { class: 'locks', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': words },
      svg('defs', {}, svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto-start-reverse' },
        svg('path', { d: 'M0 0 8 4 0 8z' }))),
      arrows, boxes),
    el('p', { class: 'quiet' }, words));
}
