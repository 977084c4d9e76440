// A run of the lab as moments, and the drawing of them: sessions side by side, waits as bars.

import { el } from '../shared/dom.js';

/**
 * The moments of a run in order: a step is sent and answered, or sent and waits, and later continues. The times are
 * the server's own.
 */
export function moments(run) {
  const found = [];
  for (const step of run.steps) {
    const waits = step.blockedUs !== null;
    found.push({ at: step.startedUs, step, kind: waits ? 'waits' : 'runs' });
    if (waits) found.push({ at: step.finishedUs, step, kind: 'goes on' });
  }
  return found.sort((a, b) => a.at - b.at || a.step.step - b.step.step);
}

/** The first moments of a run, up to a number. */
export function timeline(run, upTo) {
  const all = moments(run);
  const shown = all.slice(0, upTo);
  const columns = `repeat(${run.sessions.length}, minmax(0, 1fr))`;
  const head = el('div', { class: 'lanes-head', 'aria-hidden': 'true' },
    run.sessions.map((name, i) => el('div', { class: `lane lane-${i}` }, name)));
  const list = el('ol', { class: 'lanes', 'aria-label': `What the sessions do: ${run.sessions.join(', ')}` });
  head.style.gridTemplateColumns = columns;
  list.style.gridTemplateColumns = columns;
  shown.forEach((moment, i) => {
    const item = el('li', { class: classes(moment, shown, i, run), 'aria-current': i === upTo - 1 && upTo < all.length ? 'step' : null },
      heading(moment), body(moment));
    place(item, run.sessions.indexOf(moment.step.session), i, i + 1);
    list.append(item);
  });
  for (const bar of bars(run, shown)) list.append(bar);
  return el('div', { class: 'sessions' }, head, list);
}

function classes(moment, shown, i, run) {
  const lane = run.sessions.indexOf(moment.step.session);
  const failed = moment.kind !== 'waits' && moment.step.outcome === 'failed';
  const skipped = moment.step.outcome === 'skipped';
  return ['step', `lane-${lane}`, moment.kind.replace(' ', '-'), failed ? 'failed' : '', skipped ? 'skipped' : '',
    waitingAt(shown, i).length ? 'meanwhile' : ''].filter(Boolean).join(' ');
}

/** Steps that wait while another moment happens. */
function waitingAt(shown, i) {
  return shown.slice(0, i).filter((before) => before.kind === 'waits' && before.step !== shown[i].step
    && !shown.slice(0, i).some((later) => later.kind === 'goes on' && later.step === before.step));
}

function place(element, lane, from, to) {
  element.style.gridColumn = String(lane + 1);
  element.style.gridRow = `${from + 1} / ${to + 1}`;
}

/** From the moment a session starts to wait until it continues, or until now. */
function bars(run, shown) {
  const drawn = [];
  shown.forEach((moment, i) => {
    if (moment.kind !== 'waits') return;
    const end = shown.findIndex((later) => later.kind === 'goes on' && later.step === moment.step);
    const until = end < 0 ? shown.length : end;
    if (until <= i + 1) return;
    const bar = el('li', { class: 'wait', 'aria-hidden': 'true' });
    place(bar, run.sessions.indexOf(moment.step.session), i + 1, until);
    drawn.push(bar);
  });
  return drawn;
}

function heading(moment) {
  const { step } = moment;
  return el('p', { class: 'step-head' }, el('span', { class: 'who' }, step.session), el('span', { class: 'number' },
    el('span', { class: 'unseen' }, ', step '), String(step.step)));
}

function body(moment) {
  const { step } = moment;
  if (moment.kind === 'goes on') {
    return [el('p', { class: 'goes' }, `goes on after ${duration(step.finishedUs - step.blockedUs)}`), outcome(step)];
  }
  return [
    el('pre', {}, step.sql.replace(/\s+/g, ' ')),
    step.parameters.length ? el('p', { class: 'with' }, `with ${step.parameters.join(', ')}`) : null,
    step.note ? el('p', { class: 'note' }, step.note) : null,
    moment.kind === 'waits'
      ? el('p', { class: 'waits-for' }, `waits for ${step.blockedBy.join(' and ')}`, step.awaitedLock ? el('small', {}, step.awaitedLock) : null)
      : outcome(step),
  ].filter(Boolean);
}

export function duration(us) {
  return us < 1_000 ? `${us} µs` : `${(us / 1_000).toFixed(1)} ms`;
}

function outcome(step) {
  switch (step.outcome) {
    case 'rows':
      return rows(step.columns, step.rows, `Rows that ${step.session} saw in step ${step.step}`);
    case 'changed':
      return el('p', { class: 'result' }, step.changed === 1 ? '1 row' : `${step.changed} rows`);
    case 'failed':
      return el('p', { class: 'result error' }, el('strong', {}, step.sqlState), ` ${step.message}`);
    case 'skipped':
      return el('p', { class: 'result' }, `not sent: ${step.message}`);
    default:
      return '';
  }
}

/** Rows as a small table, or "no rows". */
export function rows(columns, content, label) {
  if (!content.length) return el('p', { class: 'result' }, 'no rows');
  return el('table', { class: 'rows', 'aria-label': label },
    el('thead', {}, el('tr', {}, columns.map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, content.map((row) => el('tr', {}, row.map((cell) => el('td', {}, cell))))));
}

/** A moment as a sentence, for screen readers. */
export function told(moment) {
  const { step } = moment;
  if (moment.kind === 'waits') return `${step.session} waits for ${step.blockedBy.join(' and ')}.`;
  if (step.outcome === 'failed') return `${step.session}: error ${step.sqlState}.`;
  return `${step.session}, step ${step.step}: ${step.sql.split(' ').slice(0, 2).join(' ')}.`;
}
