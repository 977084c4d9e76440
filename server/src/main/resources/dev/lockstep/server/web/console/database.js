// The health of the database: what is wrong and what to do, who waits for whom, what is old and what is dirty.

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
  lockTimeoutShare: ['Transactions that gave up waiting', share],
  conflictShare: ['Transactions that conflicted', share],
  deadlocks: ['Deadlocks since the start', count],
  transactionSeconds: ['Oldest transaction', seconds],
  idleInTransactionSeconds: ['Longest idle in a transaction', seconds],
  poolShare: ['Pooled connections in use', share],
  deadRowShare: ['Dead rows for each live one', share],
  transactionIdAge: ['Age of the oldest transaction id', transactions],
  replicationLagSeconds: ['A replica is behind by', seconds],
  cacheMissShare: ['Blocks read from outside its memory', share],
};
const BADGE = { ok: 'completed', warning: 'warning', critical: 'failed' };

function share(number) {
  if (number > 0 && number < 0.0005) return '< 0.1 %';
  return `${(100 * number).toFixed(number > 0 && number < 0.1 ? 1 : 0)} %`;
}

/** Transaction ids are counted in transactions; millions are enough to know. */
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
    show(checked, `As PostgreSQL said ${time(now.checkedAt)}; asked again every ${EVERY_MS / 1000} seconds.`);
    redraw(findings, bad.length
      ? bad.map((one) => notice(one.level === 'critical' ? 'bad' : 'warn', `${WORDS[one.name][0]}: ${WORDS[one.name][1](one.value)}`, one.advice))
      : notice('good', 'The database is well.', 'Nothing that is watched has reached its warning.'));
    redraw(waits, lockGraph(now.sessions));
    show(watched, table('What is watched', ['What', 'Now', 'Warning from', 'Critical from', 'Level'], now.findings.map((one) => {
      const [words, format] = WORDS[one.name];
      return [name(words), figure(format(one.value)), figure(one.warningAt < 0.0001 ? 'any' : format(one.warningAt)), figure(format(one.criticalAt)),
        badge(one.level, BADGE[one.level])];
    }), ['', '']));
    redraw(open, sessions(now.sessions));
    redraw(dirty, tables(now.tables, everyTable, () => { everyTable = !everyTable; draw(now); }));
    show(figures, facts(now));
    // Told when it changes, not each time it is read.
    const told = bad.map((one) => `${WORDS[one.name][0]}: ${one.level}`).join('; ') || 'The database is well.';
    if (told !== before) announce(told);
    before = told;
  }

  const read = async () => draw(await get('/v1/database'));
  const section = (title, content, about) => el('section', { class: 'block' }, el('h2', {}, title), about ? el('p', { class: 'quiet' }, about) : null, content);
  show(place.body, head('Database', level, button('Look again', { id: 'again', class: 'plain' }, () => read().catch(place.failed))),
    checked, findings, section('Who waits for whom', waits), section('What is watched', watched), section('Longest transactions', open),
    section('Tables', dirty, 'Those with the most dead rows first: what VACUUM has to clean up, and what slows reading down until it does.'),
    section('Figures', figures));
  await read();
  every(place, read, EVERY_MS);
}

function sessions(all) {
  const open = all.filter((one) => one.transactionSeconds !== null);
  return table('Longest transactions', ['Process', 'State', 'Open for', 'In this state for', 'Application', 'Statement'], open.slice(0, SHOWN_SESSIONS).map((one) => [
    code(String(one.pid)), one.state, figure(seconds(one.transactionSeconds)), figure(seconds(one.stateSeconds)), name(one.application || '–'), prose(code(one.query))]),
  ['No transaction is open.', 'At this moment nobody is in one.']);
}

/** A table says something if it has rows, alive or dead; of those the dirtiest come first. */
function tables(all, everything, toggle) {
  const told = all.filter((one) => one.live || one.dead).sort((a, b) => b.dead - a.dead || b.live - a.live || a.name.localeCompare(b.name));
  const shown = everything ? [...told, ...all.filter((one) => !told.includes(one))] : told.slice(0, SHOWN_TABLES);
  const more = all.length - Math.min(told.length, SHOWN_TABLES);
  return [
    table('Tables', ['Table', 'Dead rows', 'Live rows', 'Last vacuum', 'Age of its ids'], shown.map((one) => [
      code(one.name), figure(one.dead), figure(one.live), one.vacuumedAt ? time(one.vacuumedAt) : 'never', figure(transactions(one.transactionIdAge))]),
    ['No table has a row yet.', 'The first sale, job or event makes some.']),
    more > 0 ? el('p', { class: 'row' }, everything ? null : el('span', { class: 'quiet' }, `and ${plural(more, 'more', 'more')}, ${quiet(all, told)}`),
      el('button', { type: 'button', class: 'plain', id: 'every-table', 'aria-expanded': String(everything), onclick: toggle }, everything ? 'Show only those' : 'Show all')) : null];
}

function quiet(all, told) {
  const rest = told.slice(SHOWN_TABLES);
  return rest.some((one) => one.dead) ? 'with fewer dead rows' : 'all quiet';
}

function facts(now) {
  return el('dl', { class: 'wide-terms' },
    fact('Pool', `${now.pool.active} of ${now.pool.max} connections in use, ${now.pool.waiting} waiting for one`),
    fact('Until transaction ids run out', `${transactions(now.transactionIds.untilWraparound)} transactions; PostgreSQL begins to freeze old ones by itself at an age of ${transactions(now.transactionIds.freezeMaxAge)}`),
    fact('Serialization failures', `${count(now.sinceStart.serializationFailures)} in ${plural(now.sinceStart.transactions, 'transaction')} since the start`),
    fact('Lock time-outs', `${count(now.sinceStart.lockTimeouts)} since the start`),
    fact('Deadlocks', `${count(now.sinceStart.deadlocks)} since the start`),
    fact('Blocks found in memory', share(now.sinceStart.cacheHitShare)),
    fact('Replicas', now.replicas.length ? now.replicas.map((one) => `${one.name}: ${one.state}, ${seconds(one.lagSeconds)} behind`).join('; ') : 'none'));
}
