// The health of the database: findings and what to do, lock waits, long transactions and tables to vacuum.

import { announce, button, el, notice, redraw, show } from '../shared/dom.js';
import { get } from '../shared/api.js';
import { count, plural, seconds, time } from '../shared/words.js';
import { badge, code, every, fact, figure, head, name, prose, table } from './parts.js';
import { lockGraph } from './lock-graph.js';

const EVERY_MS = 5_000;
const SHOWN_TABLES = 20;
const SHOWN_SESSIONS = 20;

const WORDS = {
  lockWaitSeconds: ['Longest wait for a lock', seconds],
  lockTimeoutShare: ['Transactions with lock timeouts', share],
  conflictShare: ['Transactions with conflicts', share],
  deadlocks: ['Deadlocks since the start', count],
  transactionSeconds: ['Oldest transaction', seconds],
  idleInTransactionSeconds: ['Longest idle in a transaction', seconds],
  poolShare: ['Pooled connections in use', share],
  deadRowShare: ['Dead rows per live row', share],
  transactionIdAge: ['Age of the oldest transaction id', transactions],
  replicationLagSeconds: ['Replica lag', seconds],
  cacheMissShare: ['Blocks not found in memory', share],
};
const BADGE = { ok: 'completed', warning: 'warning', critical: 'failed' };

function share(number) {
  if (number > 0 && number < 0.0005) return '< 0.1 %';
  return `${(100 * number).toFixed(number > 0 && number < 0.1 ? 1 : 0)} %`;
}

/** Transaction ids, to the nearest million. */
function transactions(number) {
  return number < 1_000_000 ? count(number) : `${count(Math.round(number / 1_000_000))} million`;
}

export async function database(place) {
  const level = el('span', { class: 'row' });
  const checked = el('p', { class: 'quiet' });
  const parts = Array.from({ length: 6 }, () => el('div', {}));
  const [findings, waits, watched, open, dirty, figures] = parts;
  let everyTable = false;
  let before = null;

  function draw(now) {
    const bad = now.findings.filter((one) => one.level !== 'ok').sort((a, b) => a.level.localeCompare(b.level));
    show(level, badge(now.level, BADGE[now.level]));
    show(checked, `As reported by PostgreSQL ${time(now.checkedAt)}; refreshed every ${EVERY_MS / 1000} seconds.`);
    redraw(findings, bad.length
      ? bad.map((one) => notice(one.level === 'critical' ? 'bad' : 'warn', `${WORDS[one.name][0]}: ${WORDS[one.name][1](one.value)}`, one.advice))
      : notice('good', 'The database is healthy.', 'No measure has reached its warning level.'));
    redraw(waits, lockGraph(now.sessions));
    show(watched, table('Measures', ['Measure', 'Now', 'Warning from', 'Critical from', 'Level'], now.findings.map((one) => {
      const [words, format] = WORDS[one.name];
      return [name(words), figure(format(one.value)), figure(one.warningAt < 0.0001 ? 'any' : format(one.warningAt)), figure(format(one.criticalAt)),
        badge(one.level, BADGE[one.level])];
    }), ['', '']));
    redraw(open, sessions(now.sessions));
    redraw(dirty, tables(now.tables, everyTable, () => { everyTable = !everyTable; draw(now); }));
    show(figures, facts(now));
    // Announced when it changes, not at every reading.
    const told = bad.map((one) => `${WORDS[one.name][0]}: ${one.level}`).join('; ') || 'The database is healthy.';
    if (told !== before) announce(told);
    before = told;
  }

  const read = async () => draw(await get('/v1/database'));
  const section = (title, content, about) => el('section', { class: 'block' }, el('h2', {}, title), about ? el('p', { class: 'quiet' }, about) : null, content);
  show(place.body, head('Database', level, button('Refresh', { id: 'again', class: 'plain' }, () => read().catch(place.failed))),
    checked, findings, section('Lock waits', waits), section('Measures', watched), section('Longest transactions', open),
    section('Tables', dirty, 'Most dead rows first: VACUUM has to remove them, and until then they slow down reads.'),
    section('Figures', figures));
  await read();
  every(place, read, EVERY_MS);
}

function sessions(all) {
  const open = all.filter((one) => one.transactionSeconds !== null);
  return table('Longest transactions', ['Process', 'State', 'Open for', 'In this state for', 'Application', 'Statement'], open.slice(0, SHOWN_SESSIONS).map((one) => [
    code(String(one.pid)), one.state, figure(seconds(one.transactionSeconds)), figure(seconds(one.stateSeconds)), name(one.application || '–'), prose(code(one.query))]),
  ['No transaction is open.', '']);
}

/** Shows tables that have rows, live or dead; those with the most dead rows first. */
function tables(all, everything, toggle) {
  const told = all.filter((one) => one.live || one.dead).sort((a, b) => b.dead - a.dead || b.live - a.live || a.name.localeCompare(b.name));
  const shown = everything ? [...told, ...all.filter((one) => !told.includes(one))] : told.slice(0, SHOWN_TABLES);
  const more = all.length - Math.min(told.length, SHOWN_TABLES);
  return [
    table('Tables', ['Table', 'Dead rows', 'Live rows', 'Last vacuum', 'Age of its ids'], shown.map((one) => [
      code(one.name), figure(one.dead), figure(one.live), one.vacuumedAt ? time(one.vacuumedAt) : 'never', figure(transactions(one.transactionIdAge))]),
    ['The tables are empty.', 'The first sale, job or event changes that.']),
    more > 0 ? el('p', { class: 'row' }, everything ? null : el('span', { class: 'quiet' }, `and ${plural(more, 'more', 'more')}, ${quiet(all, told)}`),
      el('button', { type: 'button', class: 'plain', id: 'every-table', 'aria-expanded': String(everything), onclick: toggle }, everything ? 'Show only those' : 'Show all')) : null];
}

function quiet(all, told) {
  const rest = told.slice(SHOWN_TABLES);
  return rest.some((one) => one.dead) ? 'with fewer dead rows' : 'all quiet';
}

function replica(one) {
  return one.lagSeconds === null ? 'one that this server’s role may not see' : `${one.name}: ${one.state}, ${seconds(one.lagSeconds)} behind`;
}

function facts(now) {
  return el('dl', { class: 'wide-terms' },
    fact('Pool', `${now.pool.active} of ${now.pool.max} connections in use, ${now.pool.waiting} waiting for one`),
    fact('Until transaction ids run out', `${transactions(now.transactionIds.untilWraparound)} transactions; PostgreSQL starts to freeze old ones at an age of ${transactions(now.transactionIds.freezeMaxAge)}`),
    fact('Serialization failures', `${count(now.sinceStart.serializationFailures)} in ${plural(now.sinceStart.transactions, 'transaction')} since the start`),
    fact('Lock timeouts', `${count(now.sinceStart.lockTimeouts)} since the start`),
    fact('Deadlocks', `${count(now.sinceStart.deadlocks)} since the start`),
    fact('Blocks found in memory', share(now.sinceStart.cacheHitShare)),
    fact('Replicas', now.replicas.length ? now.replicas.map(replica).join('; ') : 'none'));
}
