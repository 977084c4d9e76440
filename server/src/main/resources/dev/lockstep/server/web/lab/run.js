// A scenario of the lab: both variants at one isolation level, step by step or at once. The address holds the state.

import { announce, button, byId, el, notice, show } from '../shared/dom.js';
import { Problem, get, post, useKey } from '../shared/api.js';
import { explain } from '../shared/words.js';
import { duration, moments, rows, timeline, told } from './timeline.js';

const PLAY_MS = 1_100;
const LEVELS = [['read-committed', 'Read committed'], ['repeatable-read', 'Repeatable read'], ['serializable', 'Serializable']];
const VARIANTS = [['naive', 'Naive'], ['lockstep', 'Lockstep']];
const id = location.pathname.split('/')[2];
const view = byId('lab');
const asked = new URLSearchParams(location.search);

// If visitors may not play, uses the shop's or console's key of this tab, if any.
useKey(() => sessionStorage.getItem('lockstep.buyer-key') || sessionStorage.getItem('lockstep.operator-key'));

const one = (pairs, value) => (pairs.some(([name]) => name === value) ? value : pairs[0][0]);
const state = {
  isolation: one(LEVELS, asked.get('isolation')),
  variant: one(VARIANTS, asked.get('variant')),
  moment: /^\d{1,3}$/.test(asked.get('moment') || '') ? Number(asked.get('moment')) : null,
};
let runs = {};
let playing = null;

const message = el('div', {});
const stage = el('div', { class: 'races' });
const counter = el('p', { class: 'counter', id: 'counter' });
const play = button('Play', { id: 'play' }, whenPlayed(() => (playing ? pause() : resume())));

/** Stepping needs a finished run. */
function whenPlayed(work) {
  return () => (runs.naive ? work() : undefined);
}

function choices(legend, name, pairs, extra) {
  return el('fieldset', { class: `segments ${name}` }, el('legend', {}, legend), el('div', { class: 'row' },
    pairs.map(([value, label]) => el('label', { class: 'choice' },
      el('input', { type: 'radio', name, value, checked: state[name] === value, onchange: () => choose(name, value) }), label))), extra);
}

function choose(name, value) {
  state[name] = value;
  if (name === 'isolation') {
    state.moment = null;
    perform();
  } else if (runs.naive) {
    draw();
  }
}

const last = () => Math.max(...Object.values(runs).map((run) => moments(run).length));

function step(to) {
  state.moment = Math.max(0, Math.min(last(), to));
  draw();
  const run = runs[state.variant];
  const reached = moments(run)[state.moment - 1];
  if (reached) announce(told(reached));
  else if (state.moment >= moments(run).length) announce(verdictWords(run));
}

function pause() {
  clearInterval(playing);
  playing = null;
  play.textContent = 'Play';
}

function resume() {
  if (state.moment === null || state.moment >= last()) step(0);
  play.textContent = 'Pause';
  playing = setInterval(() => {
    step(state.moment + 1);
    if (state.moment >= last()) pause();
  }, PLAY_MS);
}

function byHand(change) {
  pause();
  step((state.moment === null ? last() : state.moment) + change);
}

/** Both variants, one after the other: the lab plays one at a time. */
async function perform() {
  pause();
  view.setAttribute('aria-busy', 'true');
  if (!runs.naive) show(stage, el('p', { class: 'quiet' }, 'Playing both on PostgreSQL …'));
  try {
    const played = {};
    for (const [variant] of VARIANTS) {
      played[variant] = await post(`/v1/lab/scenarios/${id}/runs`, { isolation: state.isolation, variant });
    }
    runs = played;
    show(message);
    draw();
    announce(VARIANTS.map(([variant, label]) => `${label}: ${verdictWords(runs[variant])}`).join(' '));
  } catch (problem) {
    if (!runs.naive) show(stage);
    show(message, refusal(problem));
  }
  view.setAttribute('aria-busy', 'false');
}

function refusal(problem) {
  if (problem.slug === 'lab-off') return notice('note', 'The lab is off here.', 'It runs only if the server is started with LOCKSTEP_LAB=true.');
  if (problem.slug === 'unauthorized') {
    return notice('note', 'This lab plays only for people with a key.', 'Sign in to the console in this tab, then come back.', el('a', { href: '/console' }, 'Open the console'));
  }
  if (problem.slug === 'lab-unavailable') return notice('bad', 'The lab cannot play.', problem.body.detail);
  if (problem.slug === 'overloaded') return notice('note', 'Many people are playing now.', 'Wait a second, then run it again.');
  return notice('bad', ...explain(problem));
}

function draw() {
  const upTo = state.moment === null ? last() : state.moment;
  show(stage, VARIANTS.map(([variant, label]) => race(variant, label, runs[variant], upTo)));
  counter.textContent = `Moment ${upTo} of ${last()}`;
  stage.querySelector('.chosen [aria-current="step"]')?.scrollIntoView({ block: 'nearest' });
  address();
}

function race(variant, label, run, upTo) {
  const done = upTo >= moments(run).length;
  return el('section', { class: `race ${variant}${state.variant === variant ? ' chosen' : ''}`, 'aria-label': label },
    el('h2', {}, variant === 'naive' ? 'As one writes it at first' : 'As Lockstep does it'),
    el('details', { class: 'setup' }, el('summary', {}, 'Before'), el('pre', {}, run.setup.map((sql) => `${sql.replace(/\s+/g, ' ')};`).join('\n'))),
    timeline(run, upTo),
    done ? [el('h3', {}, 'In the end'),
      el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `${label}: in the end` }, rows(run.finalState.columns, run.finalState.rows, 'The tables')),
      notice(run.verdict.anomaly ? 'bad' : 'good', run.verdict.anomaly ? 'It happened.' : `Prevented${how(run)}.`, run.verdict.sentence),
      el('p', { class: 'quiet' }, `PostgreSQL ${run.postgres}, ${duration(run.tookUs)} in total.`)] : null);
}

function how(run) {
  if (run.verdict.refusals.length) return ` with ${run.verdict.refusals.join(', ')}`;
  return run.verdict.waited ? ' by waiting' : '';
}

const verdictWords = (run) => `${run.verdict.anomaly ? 'It happened.' : `Prevented${how(run)}.`} ${run.verdict.sentence}`;

/** Puts the state into the address, to share it. */
function address() {
  const link = new URLSearchParams({ isolation: state.isolation, variant: state.variant });
  if (state.moment !== null && state.moment < last()) link.set('moment', String(state.moment));
  history.replaceState(null, '', `${location.pathname}?${link}`);
}

async function share() {
  try {
    await navigator.clipboard.writeText(location.href);
    announce('The link is copied.');
    show(message, notice('good', 'The link is copied.', 'It opens this scenario at this level and moment, in a new run.'));
  } catch {
    show(message, notice('note', 'Copy the address of this page.', location.href));
  }
}

function keys(event) {
  if (event.target.closest('input, select, textarea, [tabindex="0"]') || event.altKey || event.ctrlKey || event.metaKey || !runs.naive) return;
  if (event.key === 'ArrowRight') byHand(1);
  else if (event.key === 'ArrowLeft') byHand(-1);
  else return;
  event.preventDefault();
}

async function begin() {
  const scenario = (await get('/v1/lab/scenarios')).items.find((item) => item.id === id);
  if (!scenario) throw new Problem(404, 'not-found');
  document.title = `${scenario.title} · Lockstep lab`;
  show(view,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '/lab' }, 'The lab'), ` · ${scenario.groupTitle}`),
    el('h1', {}, scenario.title),
    el('p', { class: 'question' }, scenario.question),
    choices('Isolation level', 'isolation', LEVELS, el('small', {}, 'Read uncommitted is read committed in PostgreSQL.')),
    el('div', { class: 'player row' },
      button('Back', { id: 'back' }, whenPlayed(() => byHand(-1))), button('Next', { id: 'next' }, whenPlayed(() => byHand(1))), play, counter,
      button('All', { id: 'all', class: 'plain' }, whenPlayed(() => { pause(); state.moment = null; draw(); })),
      button('Run again', { id: 'again', class: 'plain' }, perform),
      button('Copy link', { id: 'share', class: 'plain' }, share),
      el('small', { class: 'hint' }, 'The arrow keys step, too.')),
    choices('Show', 'variant', VARIANTS),
    message, stage,
    el('div', { class: 'columns explained' },
      el('section', { class: 'block' }, el('h2', {}, 'Why'), el('p', {}, scenario.why)),
      el('section', { class: 'block' }, el('h2', {}, 'The cure'), el('p', {}, scenario.cure))));
  document.addEventListener('keydown', keys);
  await perform();
}

begin().catch((problem) => show(view, el('h1', {}, 'No such scenario'), notice('bad', ...explain(problem), el('a', { href: '/lab' }, 'The lab'))));
