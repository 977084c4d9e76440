// The catalogue of the lab.

import { byId, el, notice, show } from '../shared/dom.js';
import { get } from '../shared/api.js';
import { explain, plural } from '../shared/words.js';

const view = byId('lab');

function card(scenario) {
  return el('li', { class: 'card' }, el('h3', {}, el('a', { href: `/lab/${scenario.id}` }, scenario.title)),
    el('p', { class: 'quiet' }, scenario.question));
}

function group(scenarios) {
  return el('section', { class: 'block' }, el('h2', {}, scenarios[0].groupTitle), el('ul', { class: 'cards catalogue' }, scenarios.map(card)));
}

/** Scenarios come in the order of their groups. */
function groups(items) {
  const found = new Map();
  for (const item of items) found.set(item.group, [...(found.get(item.group) || []), item]);
  return [...found.values()];
}

async function begin() {
  const { enabled, items } = await get('/v1/lab/scenarios');
  show(view,
    el('h1', {}, 'The lab'),
    el('p', { class: 'tagline' }, `${plural(items.length, 'race')} between transactions, played on a real PostgreSQL while you watch.`
      + ' Choose one to see what each session does, waits for and sees, and how to prevent the anomaly.'),
    enabled ? el('p', {}, el('a', { href: '/lab/matrix' }, 'All races at every isolation level, as a table')) : notice('note', 'The lab is off here.',
      'This server uses an external database, so the lab runs only if the server is started with LOCKSTEP_LAB=true.'),
    groups(items).map(group));
}

begin().catch((problem) => show(view, el('h1', {}, 'The lab'), notice('bad', ...explain(problem))));
