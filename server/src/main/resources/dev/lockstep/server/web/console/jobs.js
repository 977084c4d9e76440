// Jobs: searched, shown, retried and cancelled, one or all that match.

import { busy, button, el, notice, show } from '../shared/dom.js';
import { get, post } from '../shared/api.js';
import { distance, forOperator, plural, time } from '../shared/words.js';
import { act, badge, choice, code, every, fact, figure, filters, head, identity, name, paged, prose, toast } from './parts.js';

const STATES = ['scheduled', 'ready', 'running', 'dead', 'done'];
const ENDED = ['done', 'dead'];
const EVERY_MS = 3_000;
const BADGES = { running: 'held', dead: 'failed', done: 'completed' };
/** The most that one request changes; the server's limit. */
const PORTION = 10_000;

const stateBadge = (state) => badge(state, BADGES[state] ?? state);

export async function jobs(place) {
  const known = (await get('/v1/queues')).items.map((one) => one.name);
  const asked = place.query.get('queue');
  const names = asked && !known.includes(asked) ? [asked, ...known] : known;
  const queue = choice([['', 'all'], ...names.map((one) => [one, one])]);
  const state = choice([['', 'any'], ...STATES.map((one) => [one, one])]);
  const kind = el('input', { type: 'search', maxlength: 200, placeholder: 'any' });
  const text = el('input', { type: 'search', maxlength: 200, placeholder: 'in the payload' });
  const controls = { queue, state, kind, text };
  for (const [key, control] of Object.entries(controls)) control.value = place.query.get(key) ?? '';
  const filter = () => Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, control.value.trim()]).filter(([, value]) => value));
  const bulk = el('div', { class: 'row' });
  const list = paged({
    place,
    label: 'Jobs',
    path: () => `/v1/jobs?${new URLSearchParams(filter())}`,
    columns: ['Due', 'State', 'Kind', 'Queue', 'Failed attempts', 'Error', 'Job'],
    row: (one) => [time(one.dueAt), stateBadge(one.state), name(el('a', { href: `#/jobs/${encodeURIComponent(one.id)}` }, one.kind)), name(one.queue), figure(failures(one)),
      one.reason ? prose(one.reason) : '–', identity(one.id)],
    empty: ['No job matches.', 'Completed jobs are kept for a week. Leave the fields empty to see all.'],
  });
  async function search() {
    // In the address, so that a reload or link shows the same, but not as a history entry per search.
    const query = new URLSearchParams(filter()).toString();
    history.replaceState(null, '', `#/jobs${query ? `?${query}` : ''}`);
    drawBulk();
    await list.load();
  }
  function drawBulk() {
    const wanted = state.value;
    show(bulk,
      ['', 'dead'].includes(wanted) ? many('Retry dead …', { filter, reload: search, ...RETRY }) : null,
      wanted === 'done' ? null : many('Cancel …', { filter, reload: search, ...CANCEL }));
  }
  drawBulk();
  show(place.body, head('Jobs', bulk),
    filters([['Queue', queue], ['State', state], ['Kind', kind], ['Text', text]], search), list.root);
  await list.load();
}

function failures(job) {
  return job.maxAttempts ? `${job.failedAttempts} of ${job.maxAttempts}` : String(job.failedAttempts);
}

/** After a retry by hand the count restarts at zero; the list keeps all attempts. */
function allFailures(job) {
  const all = job.attempts.filter((one) => one.error !== null).length;
  return all > job.failedAttempts ? `${failures(job)} since its retry, ${all} in total` : failures(job);
}

const RETRY = {
  path: '/v1/jobs/retry',
  /** Only dead jobs can be retried, whatever else the search shows. */
  only: ['queue', 'kind', 'text'],
  title: (number) => `Retry ${plural(number, 'dead job')}?`,
  text: 'They run again as soon as their queue allows. Their past attempts stay listed.',
  label: 'Retry',
  done: 'retried',
};

const CANCEL = {
  path: '/v1/jobs/cancel',
  only: ['queue', 'kind', 'text', 'state'],
  title: (number) => `Remove ${plural(number, 'job')} permanently?`,
  text: 'This cannot be undone. A running job may finish, but its result is refused. Dead jobs in the search are removed, too.',
  label: 'Cancel jobs',
  danger: true,
  done: 'removed',
};

/** Counts what matches before it asks; the change covers exactly what was counted, or nothing. */
function many(label, { filter, reload, ...what }) {
  const made = el('button', { type: 'button', class: what.danger ? 'danger' : null }, label);
  made.addEventListener('click', () => busy(made, async () => {
    const chosen = Object.fromEntries(Object.entries(filter()).filter(([key]) => what.only.includes(key)));
    let matched;
    try {
      matched = (await post(what.path, { filter: chosen, dryRun: true })).matched;
    } catch (problem) {
      toastProblem(problem);
      return;
    }
    if (!matched) {
      toast('No job matches.', undefined, 'note');
      return;
    }
    act({
      title: what.title(matched),
      text: `${words(chosen)} ${what.text}${matched > PORTION ? ` At most ${PORTION} at a time: repeat it for the rest.` : ''}`,
      label: what.label, danger: what.danger, reason: 'required',
      work: ({ reason }) => post(what.path, { filter: chosen, expected: matched, reason }),
      onDone: async ({ changed }) => { await reload(); toast(`${plural(changed, 'job')} ${what.done}.`); },
      onRefused: (problem, close) => (problem.slug === 'count-changed'
        ? notice('bad', `Now ${problem.body.matched} match.`, 'Nothing was done. Close this and count again.',
          el('button', { type: 'button', onclick: () => { close(); made.click(); } }, 'Count again')) : null),
    });
  }));
  return made;
}

function toastProblem(problem) {
  const [title, next] = forOperator(problem);
  toast(`${title} ${next}`, undefined, 'bad');
}

function words(filter) {
  const parts = Object.entries(filter).map(([key, value]) => `${key} “${value}”`);
  return parts.length ? `With ${parts.join(', ')}.` : 'Of all queues and kinds, without any filter.';
}

export async function job(place, id) {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  let stop = () => {};
  const reload = () => { stop(); return job(place, id).catch((problem) => place.failed(problem)); };
  const now = await get(path);
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' },
      el('a', { href: `#/jobs?queue=${encodeURIComponent(now.queue)}&state=${now.state}` }, `All ${now.state} jobs of ${now.queue}`)),
    head(now.kind, stateBadge(now.state), ...actions(now, path, reload), button('Refresh', { class: 'plain', id: 'again' }, reload)),
    now.reason ? notice('bad', 'This job is dead.', now.reason) : null,
    el('dl', { class: 'block' },
      fact('Id', code(now.id)),
      fact('Queue', now.queue),
      fact('Due', `${time(now.dueAt)}, ${distance(now.dueAt)}`),
      now.lane ? fact('Lane', now.lane) : null,
      fact('Failed attempts', allFailures(now)),
      now.endedAt ? fact('Ended', time(now.endedAt)) : null,
      fact('Version', String(now.version))),
    el('section', { class: 'block' }, el('h2', {}, 'Attempts'), timeline(now)),
    el('section', { class: 'block' }, el('h2', {}, 'Payload'),
      el('pre', { class: 'wrapped', tabindex: '0' }, JSON.stringify(now.payload, null, 2))));
  if (ENDED.includes(now.state)) return;
  // What is already shown, so that it is redrawn only when there is more.
  const seen = (one) => `${one.state} ${one.version} ${one.attempts.length} ${one.dueAt}`;
  stop = every(place, async () => { if (seen(await get(path)) !== seen(now)) await reload(); }, EVERY_MS);
}

/** The attempts in order, and what comes next. */
function timeline(now) {
  const step = (state, title, at, error) => el('li', { class: state },
    el('p', { class: 'when' }, el('strong', {}, title), ` ${time(at)}`),
    error ? el('pre', { class: 'wrapped' }, error) : null);
  const steps = now.attempts.map((one) => step(one.error === null ? 'well' : 'unwell',
    one.error === null ? `Attempt ${one.attempt} succeeded` : `Attempt ${one.attempt} failed`, one.at, one.error));
  if (['scheduled', 'ready'].includes(now.state)) {
    steps.push(step('next', now.state === 'ready' ? `Attempt ${now.attempts.length + 1} is due` : `Attempt ${now.attempts.length + 1} is scheduled`, now.dueAt));
  }
  if (now.state === 'running') steps.push(step('next', `Attempt ${now.attempts.length + 1} runs, due`, now.dueAt));
  if (now.state === 'dead') steps.push(step('unwell', 'Given up', now.endedAt, now.reason));
  return el('ol', { class: 'timeline' }, steps);
}

function actions(now, path, reload) {
  const add = (label, options) => el('button', {
    type: 'button', class: options.danger ? 'danger' : null, id: `do-${label.toLowerCase().replace(' ', '-')}`, onclick: () => act({ label, reason: 'required', ...options }),
  }, label);
  const done = (text) => async () => { await reload(); toast(text); };
  const made = [];
  if (now.state === 'dead') {
    made.push(add('Retry', {
      title: 'Retry this job?',
      text: 'It runs again as soon as its queue allows. Past errors stay listed.',
      work: ({ reason }) => post(`${path}/retry`, { reason }),
      onDone: done('Recovered.'),
    }));
  }
  if (now.state === 'scheduled') {
    made.push(add('Run now', {
      title: 'Run this job now?',
      text: 'It does not wait for its due time. Once it has started, this cannot be undone.',
      work: ({ reason }) => post(`${path}/retry`, { reason }),
      onDone: done('The job is due now.'),
    }));
  }
  if (now.state !== 'done') {
    made.push(add('Cancel', {
      title: now.state === 'dead' ? 'Remove this dead job permanently?' : 'Cancel this job?',
      text: 'This cannot be undone. If it is running it may finish, but its result is refused.',
      label: now.state === 'dead' ? 'Remove' : 'Cancel job', danger: true,
      work: ({ reason }) => post(`${path}/cancel`, { reason }),
      onDone: () => { location.hash = `#/jobs?queue=${encodeURIComponent(now.queue)}`; },
    }));
  }
  return made;
}
