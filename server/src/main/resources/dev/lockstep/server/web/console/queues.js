// Queues: their counts and rates; paused, resumed and limited.

import { el, field, say, show } from '../shared/dom.js';
import { get, post } from '../shared/api.js';
import { count, distance, time } from '../shared/words.js';
import { act, badge, every, figure, head, identity, name, paged, prose, table, toast } from './parts.js';
import { plot } from './plot.js';

const EVERY_MS = 2_000;

/** What stops while one of the server's own queues is paused. */
const OWN = {
  upkeep: 'This is the server’s own queue. While it is paused, holds do not expire, waiting purchases are not settled, and invariants are not checked.',
  'lockstep-schedules': 'No schedule runs while it is paused; afterwards each schedule catches up as it says.',
};

export async function queues(place) {
  const waiting = plot('Waiting', 'jobs');
  const done = plot('Done', 'per s');
  const list = el('div', {});
  const record = paged({
    place,
    label: 'Actions on jobs',
    path: () => '/v1/job-actions',
    columns: ['When', 'What', 'Which', 'Jobs', 'Who', 'Why'],
    row: (one) => [time(one.at), one.action, identity(one.subject), figure(one.affected ? count(one.affected) : '–'),
      identity(one.actor), prose(one.reason || '–')],
    empty: ['Nothing yet.', 'Pausing, limiting, retrying, cancelling and edits of schedules appear here, with who and why.'],
    limit: 20,
  });
  let rows = new Map();

  /** Writes only changes: a new table would lose its scroll position. */
  function draw(found) {
    waiting.add(found.reduce((sum, one) => sum + one.ready + one.running, 0));
    done.add(found.reduce((sum, one) => sum + one.doneLastMinute, 0) / 60);
    const same = found.length === rows.size && found.every((one) => rows.get(one.name)?.state === stateOf(one));
    if (!same) {
      rows = new Map(found.map((one) => [one.name, row(one, () => Promise.all([read(), record.load()]))]));
      show(list, table('Queues', ['Queue', 'State', 'Ready', 'Running', 'Scheduled', 'Dead', 'Done, last minute', 'Oldest due', 'Limit', ''],
        [...rows.values()].map((one) => one.cells), ['There are no queues yet.', 'A queue appears with its first job.']));
    }
    found.forEach((one) => rows.get(one.name).update(one));
  }

  const read = async () => draw((await get('/v1/queues')).items);

  show(place.body, head('Queues'), el('div', { class: 'plots' }, waiting.root, done.root),
    el('section', { class: 'block' }, el('h2', {}, 'All queues'), list),
    el('section', { class: 'block' }, el('h2', {}, 'Actions on queues, jobs and schedules'), record.root));
  await Promise.all([read(), record.load()]);
  every(place, read, EVERY_MS);
}

const stateOf = (queue) => `${queue.paused} ${queue.pauseReason} ${queue.ratePerSecond}`;

function row(queue, reload) {
  const number = () => figure('');
  const link = (state) => el('a', { href: `#/jobs?queue=${encodeURIComponent(queue.name)}&state=${state}` }, '');
  const cells = { ready: number(), running: number(), scheduled: number(), dead: number(), done: number(), oldest: number() };
  const links = { ready: link('ready'), running: link('running'), scheduled: link('scheduled'), dead: link('dead') };
  for (const [key, one] of Object.entries(links)) cells[key].append(one);
  return {
    state: stateOf(queue),
    cells: [name(queue.name), el('td', { class: queue.paused ? 'name' : null }, paused(queue)), cells.ready, cells.running, cells.scheduled,
      cells.dead, cells.done, cells.oldest, limit(queue), el('span', { class: 'row' }, actions(queue, reload))],
    update(now) {
      for (const key of Object.keys(links)) {
        say(links[key], count(now[key]));
        links[key].setAttribute('aria-label', `${count(now[key])} ${key} in ${now.name}`);
      }
      say(cells.done, count(now.doneLastMinute));
      say(cells.oldest, now.oldestDueAt ? distance(now.oldestDueAt) : '–');
    },
  };
}

function paused(queue) {
  if (!queue.paused) return badge('runs', 'published');
  return [badge('paused'), el('small', { class: 'below' },
    [queue.pauseReason, queue.pausedBy && `by ${queue.pausedBy}`, queue.pausedAt && time(queue.pausedAt)].filter(Boolean).join(', '))];
}

function limit(queue) {
  return figure(queue.ratePerSecond ? `${count(queue.ratePerSecond)} per s` : 'none');
}

function actions(queue, reload) {
  const path = `/v1/queues/${encodeURIComponent(queue.name)}`;
  const pause = (reason) => post(`${path}/pause`, { reason });
  const resume = (reason) => post(`${path}/resume`, { reason });
  const done = (text, undo) => async () => { await reload(); toast(text, undo); };
  const perSecond = el('input', { type: 'number', min: 1, max: 1_000_000, step: 1, value: queue.ratePerSecond ?? '', placeholder: 'none' });
  const limitTo = (most, reason) => post(`${path}/limit`, { perSecond: most, reason });
  const button = (label, options) => el('button', {
    type: 'button', class: 'plain', id: `${label.toLowerCase()}-${queue.name}`, 'aria-label': `${label} ${queue.name}`, onclick: () => act({ label, ...options }),
  }, label);
  return [
    queue.paused
      ? button('Resume', {
        title: `Resume “${queue.name}”?`,
        text: 'Due jobs start at once, on all nodes.',
        reason: 'optional',
        work: ({ reason }) => resume(reason ?? null),
        onDone: done('Resumed.', async () => { await pause(queue.pauseReason ?? 'Undone: resume'); await done('Paused again.')(); }),
      })
      : button('Pause', {
        title: `Pause “${queue.name}”?`,
        text: `None of its jobs starts, on any node; running ones finish. You can resume at any time. ${OWN[queue.name] ?? ''}`,
        danger: queue.name in OWN,
        reason: 'required',
        work: ({ reason }) => pause(reason),
        onDone: done('Paused.', async () => { await resume('Undone: pause'); await done('Resumed.')(); }),
      }),
    button('Limit', {
      title: `Limit “${queue.name}”`,
      text: 'How many of its jobs may start per second, over all nodes. Leave it empty for no limit.',
      extra: [field('Jobs per second', perSecond)],
      reason: 'optional',
      work: ({ reason }) => limitTo(perSecond.value ? Number(perSecond.value) : null, reason ?? null),
      onDone: done('The limit is set.', async () => { await limitTo(queue.ratePerSecond, 'Undone: limit'); await done('The limit is restored.')(); }),
    }),
  ];
}
