// Every scenario at every isolation level on this server: filled cell by cell, one run per cell.

import { announce, button, byId, el, notice, show } from '../shared/dom.js';
import { get, post, useKey } from '../shared/api.js';
import { explain } from '../shared/words.js';

const LEVELS = [['read-committed', 'Read committed'], ['repeatable-read', 'Repeatable read'], ['serializable', 'Serializable']];
const RETRIES = 20;
const view = byId('lab');
const progress = el('p', { class: 'quiet', role: 'status' });
let variant = new URLSearchParams(location.search).get('variant') === 'lockstep' ? 'lockstep' : 'naive';
let round = 0;

useKey(() => sessionStorage.getItem('lockstep.buyer-key') || sessionStorage.getItem('lockstep.operator-key'));

/** Runs a scenario, and retries while others play. */
async function played(id, isolation) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await post(`/v1/lab/scenarios/${id}/runs`, { isolation, variant });
    } catch (problem) {
      if (!['overloaded', 'rate-limited'].includes(problem.slug) || attempt >= RETRIES) throw problem;
      await new Promise((wake) => { setTimeout(wake, 1_000 * (problem.body?.retryAfterSeconds || 1)); });
    }
  }
}

function cellOf(id, isolation, run) {
  const { anomaly, refusals, waited } = run.verdict;
  const how = refusals.length ? refusals.join(' ') : waited ? 'waits' : '';
  return el('a', { href: `/lab/${id}?isolation=${isolation}&variant=${variant}`, class: `cell ${anomaly ? 'unwell' : 'well'}`, title: run.verdict.sentence },
    anomaly ? '✗ happens' : '✓ prevented', anomaly || !how ? null : el('small', {}, how));
}

async function fill(items, cells) {
  const mine = ++round;
  const all = items.length * LEVELS.length;
  let done = 0;
  for (const item of items) {
    for (const [isolation] of LEVELS) {
      const run = await played(item.id, isolation);
      if (mine !== round) return;
      show(cells.get(`${item.id} ${isolation}`), cellOf(item.id, isolation, run));
      progress.textContent = `${++done} of ${all}, PostgreSQL ${run.postgres}`;
    }
  }
  announce('The table is complete.');
}

async function begin() {
  const { enabled, items } = await get('/v1/lab/scenarios');
  const cells = new Map();
  const message = el('div', {});
  const body = el('tbody', {});
  const blank = (waiting) => {
    show(body, items.map((item) => el('tr', {}, el('th', { scope: 'row' }, el('a', { href: `/lab/${item.id}` }, item.title)),
      LEVELS.map(([isolation]) => {
        const cell = el('td', {}, el('span', { class: 'quiet' }, waiting));
        cells.set(`${item.id} ${isolation}`, cell);
        return cell;
      }))));
  };
  const start = button('Play all', { class: 'primary', id: 'all', disabled: !enabled }, async () => {
    blank('…');
    show(message);
    try {
      await fill(items, cells);
    } catch (problem) {
      show(message, notice('bad', ...explain(problem)));
    }
  });
  const choice = (value, label) => el('label', { class: 'choice' }, el('input', {
    type: 'radio', name: 'variant', value, checked: variant === value,
    onchange: () => {
      variant = value;
      round++;
      progress.textContent = '';
      history.replaceState(null, '', `?variant=${value}`);
      blank('not played');
    },
  }), label);
  blank('not played');
  show(view,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '/lab' }, 'The lab')),
    el('h1', {}, 'What each isolation level allows'),
    el('p', { class: 'tagline' }, 'Each cell is a run on this server, judged by what its sessions saw. Open one to watch it. Read uncommitted is read committed in PostgreSQL.'),
    enabled ? null : notice('note', 'The lab is off here.', 'It runs only if the server is started with LOCKSTEP_LAB=true.'),
    el('fieldset', { class: 'segments' }, el('legend', {}, 'Written'), el('div', { class: 'row' }, choice('naive', 'as one writes it at first'), choice('lockstep', 'as Lockstep does it'))),
    el('div', { class: 'row' }, start, progress), message,
    el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Scenarios by isolation level' },
      el('table', { class: 'matrix' }, el('thead', {}, el('tr', {}, ['Scenario', ...LEVELS.map(([, label]) => label)].map((name) => el('th', { scope: 'col' }, name)))), body)));
}

begin().catch((problem) => show(view, el('h1', {}, 'The lab'), notice('bad', ...explain(problem))));
