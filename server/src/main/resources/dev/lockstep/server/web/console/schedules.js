// Schedules: shown with their next runs, created, edited on the latest version, and deleted.

import { button, el, notice, show } from '../shared/dom.js';
import { get, patch, post, remove } from '../shared/api.js';
import { distance, forOperator, time } from '../shared/words.js';
import { act, badge, code, fact, figure, head, name, paged, toast } from './parts.js';
import { calendar, local } from './calendar.js';
import { scheduleForm } from './schedule-form.js';

const PREVIEW = 100;
const LISTED = 10;

const zoneOf = (schedule) => schedule.when.zone ?? 'UTC';

/** An instant in the schedule's time zone. */
function there(instant, zone) {
  const at = local(instant, zone);
  return `${at.month}-${String(at.day).padStart(2, '0')} ${at.time} in ${zone}`;
}

/** When it runs, in words. */
function rule(when) {
  if (when.at) return `once, ${time(when.at)}`;
  if (when.cron) return `cron ${when.cron}, ${when.zone}`;
  return `every year on ${when.yearly} at ${when.time}, ${when.zone}`;
}

const receiver = (deliver) => deliver.webhook ?? deliver.mail.to.join(', ');

export async function schedules(place) {
  const list = paged({
    place,
    label: 'Schedules',
    path: () => '/v1/schedules',
    columns: ['Name', 'When', 'Next run', 'Delivers to', 'Version'],
    row: (one) => [name(el('a', { href: `#/schedules/${encodeURIComponent(one.id)}` }, one.name)), name(rule(one.when)),
      one.nextAt ? [time(one.nextAt), el('small', { class: 'below' }, distance(one.nextAt))] : badge('ended'), name(code(receiver(one.deliver))), figure(one.version)],
    empty: ['There are no schedules yet.', 'Create one with “New schedule”: it sends a request or a mail once, by cron, or every year.'],
  });
  show(place.body,
    head('Schedules', el('button', { type: 'button', class: 'primary', id: 'create', onclick: create }, 'New schedule')), list.root);
  await list.load();
}

function create() {
  const form = scheduleForm();
  act({
    title: 'New schedule',
    label: 'Create schedule',
    text: 'Each run is delivered as below, and retried until it is accepted or the attempts are used up. You can edit or delete it at any time.',
    extra: form.fields,
    work: () => post('/v1/schedules', form.value()),
    onDone: (made) => { location.hash = `#/schedules/${encodeURIComponent(made.id)}`; },
  });
}

export async function schedule(place, id, then = () => {}) {
  const path = `/v1/schedules/${encodeURIComponent(id)}`;
  const reload = (next) => schedule(place, id, next).catch((problem) => place.failed(problem));
  const [now, preview] = await Promise.all([get(path), get(`${path}/preview?count=${PREVIEW}`)]);
  const zone = zoneOf(now);
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/schedules' }, 'All schedules')),
    head(now.name, el('button', { type: 'button', id: 'do-edit', onclick: () => edit(now, path, reload) }, 'Edit'),
      el('button', { type: 'button', id: 'do-delete', class: 'danger', onclick: () => end(now, path) }, 'Delete'),
      button('Refresh', { class: 'plain', id: 'again' }, () => reload())),
    el('dl', { class: 'block' },
      fact('When', rule(now.when)),
      now.when.gap ? fact('Clocks go forward', now.when.gap === 'skip' ? 'a time that does not exist is skipped' : 'a time that does not exist runs at the next one that does') : null,
      now.when.overlap ? fact('Clocks go back', { first: 'the first of two runs', last: 'the second of two runs', both: 'both run' }[now.when.overlap]) : null,
      now.when.leapDay ? fact('Without 29 February', now.when.leapDay === 'feb28' ? 'on 28 February' : 'on 1 March') : null,
      fact('Next run', now.nextAt ? `${there(now.nextAt, zone)}, ${distance(now.nextAt)}` : 'never again'),
      fact('Delivers to', code(receiver(now.deliver))),
      fact('Attempts', String(now.maxAttempts)),
      fact('After downtime', { all: 'every missed run', latest: 'the latest missed run', none: 'no missed run' }[now.catchUp]),
      fact('Version', String(now.version)),
      fact('Id', code(now.id))),
    el('section', { class: 'block' }, el('h2', {}, 'Next runs'), runs(preview.items, zone)),
    el('section', { class: 'block' }, el('h2', {}, now.deliver.mail ? 'Mail' : 'Body'), el('pre', { class: 'wrapped', tabindex: '0' },
      now.deliver.mail ? `${now.deliver.mail.subject}\n\n${now.deliver.mail.text}` : JSON.stringify(now.deliver.body, null, 2))));
  then(now);
}

function runs(instants, zone) {
  if (!instants.length) return notice('note', 'It does not run again.', '');
  const line = (instant) => {
    const at = local(instant, zone);
    return el('li', {}, el('span', {}, `${at.month}-${String(at.day).padStart(2, '0')} ${at.time}`), el('span', { class: 'quiet' }, distance(instant)));
  };
  return el('div', {}, el('p', { class: 'quiet' }, `Times of ${zone}.`), calendar(instants, zone),
    el('h3', { class: 'block' }, `The next ${Math.min(LISTED, instants.length)}`), el('ol', { class: 'lines' }, instants.slice(0, LISTED).map(line)));
}

/** Saves only if nobody has changed it since it was shown; otherwise says so and offers the current version. */
function edit(now, path, reload) {
  const form = scheduleForm(now);
  act({
    title: `Edit “${now.name}”`,
    label: 'Save',
    text: `You are changing version ${now.version}. The next run follows the new rule; past runs are not repeated.`,
    extra: form.fields,
    reason: 'optional',
    work: ({ reason }) => patch(path, { ...form.value(), reason: reason ?? null }, now.version),
    onDone: (saved) => reload(() => toast(`Saved as version ${saved.version}.`, async () => {
      const { name: title, when, deliver, maxAttempts, catchUp } = now;
      try {
        const undone = await patch(path, { name: title, when, deliver, maxAttempts, catchUp, reason: 'Undone: edit' }, saved.version);
        await reload(() => toast(`Restored as version ${undone.version}.`));
      } catch (problem) {
        toast(forOperator(problem).join(' '), undefined, 'bad');
      }
    })),
    onRefused: (problem, close) => (problem.slug === 'version-mismatch' ? stale(now, problem, () => {
      close();
      reload((current) => edit(current, path, reload));
    }) : null),
  });
}

function stale(now, problem, load) {
  const current = problem.body.currentVersion;
  return notice('bad', `Somebody has changed it: it is version ${current} now, and you were changing version ${now.version}.`,
    'Nothing was saved. Copy what you want to keep, then load the current version and edit that.',
    el('button', { type: 'button', id: 'load-current', onclick: load }, `Load version ${current}`));
}

function end(now, path) {
  act({
    title: `Delete “${now.name}”?`,
    text: 'It does not run again; a delivery in progress continues. This cannot be undone, but you can create a new one.',
    label: 'Delete', danger: true, reason: 'required',
    work: ({ reason }) => remove(path, { reason }, now.version),
    onDone: () => { location.hash = '#/schedules'; },
    onRefused: (problem) => (problem.slug === 'version-mismatch'
      ? notice('bad', `Somebody has changed it: it is version ${problem.body.currentVersion} now.`, 'Nothing was deleted. Close this and refresh.') : null),
  });
}
