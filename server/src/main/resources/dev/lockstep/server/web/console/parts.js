// Shared by the console's parts: tables, paged lists, and actions with confirmation.

import { busy, byId, el, field, notice, show } from '../shared/dom.js';
import { get } from '../shared/api.js';
import { count, forOperator } from '../shared/words.js';

/** A table that scrolls sideways if it is too wide. A column is aligned like its first cell. */
export function table(label, columns, rows, empty) {
  if (!rows.length) return notice('note', empty[0], empty[1]);
  const body = rows.map((row) => el('tr', {}, row.map((cell) => (cell instanceof Element && cell.tagName === 'TD' ? cell : el('td', {}, cell)))));
  const heads = columns.map((title, at) => el('th', { scope: 'col', class: body[0].children[at]?.classList.contains('figure') ? 'figure' : null },
    title || el('span', { class: 'unseen' }, 'Actions')));
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label, id: `table-${label.replace(/\W+/g, '-')}` },
    el('table', {}, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, body)));
}

/** Possibly long text: broken at words where possible. */
export const name = (...content) => el('td', { class: 'name' }, ...content);
/** Possibly longer text: an error, a reason. */
export const prose = (...content) => el('td', { class: 'name text' }, ...content);
export const figure = (content) => el('td', { class: 'figure' }, typeof content === 'number' ? count(content) : content);
export const identity = (content) => el('td', { class: 'id' }, content instanceof Element ? content : code(content));
export const fact = (label, value) => el('div', {}, el('dt', {}, label), el('dd', {}, value));
export const code = (text) => el('code', {}, text);
export const badge = (text, state = text) => el('span', { class: 'badge', 'data-state': state }, text);

export function head(title, ...actions) {
  return el('div', { class: 'head' }, el('h1', {}, title), el('div', { class: 'row' }, actions));
}

/** A list shown page by page. `row` makes the cells of an item. */
export function paged({ place, label, path, columns, row, empty, limit = 50 }) {
  const root = el('div', {}, el('p', { class: 'quiet' }, 'Loading …'));
  const loaded = [];
  let list = '';
  let next = null;
  let asked = 0;

  async function load(more) {
    // Further pages keep the filters of the first, whatever is typed meanwhile.
    if (!more) list = path();
    const url = new URL(list, location.origin);
    url.searchParams.set('limit', limit);
    if (more && next) url.searchParams.set('after', next);
    const mine = ++asked;
    try {
      const page = await get(url.pathname + url.search);
      // The answer to a superseded request.
      if (mine !== asked) return;
      if (!more) loaded.length = 0;
      loaded.push(...page.items);
      next = page.next;
    } catch (problem) {
      if (problem.slug === 'unauthorized') place.failed(problem);
      else show(root, notice('bad', ...forOperator(problem)));
      return;
    }
    const moreButton = el('button', { type: 'button', id: `${label}-more`, onclick: () => busy(moreButton, () => load(true)) }, 'Show more');
    show(root, table(label, columns, loaded.map(row), empty), next ? el('p', {}, moreButton) : null);
  }

  return { root, load: () => load(false) };
}

/** Filters above a list: labelled controls, applied by choosing, by pressing Enter, or by the button if there is one. */
export function filters(controls, apply, label = 'Search') {
  for (const [, control] of controls) if (control.tagName === 'SELECT') control.addEventListener('change', () => apply());
  return el('form', {
    class: 'filters', role: 'search', onsubmit: (event) => { event.preventDefault(); apply(); },
  }, controls.map(([title, control]) => field(title, control)), label ? el('button', {}, label) : null);
}

/**
 * Repeats some work while the page is visible. Each run starts after the previous one has ended, and later the
 * longer that took. Failures are shown above, and the work continues. Returns a function that stops it.
 */
export function every(place, work, milliseconds) {
  let timer = null;
  let left = false;
  const later = (took) => { if (!left) timer = setTimeout(again, Math.max(milliseconds, 10 * took)); };
  async function again() {
    const begun = performance.now();
    if (!document.hidden) {
      try {
        await work();
        place.heard(true);
      } catch (problem) {
        if (left) return;
        if (problem.slug === 'unauthorized') {
          place.failed(problem);
          return;
        }
        place.heard(false);
      }
    }
    later(performance.now() - begun);
  }
  const stop = () => { left = true; clearTimeout(timer); };
  place.onLeave(stop);
  later(0);
  return stop;
}

/** A search for one object by its id. */
export function byIdentity(what, part) {
  const input = el('input', { type: 'search', maxlength: 100, required: true, placeholder: `${what}’s id`, 'aria-label': `${what} with the id` });
  return el('form', {
    class: 'row find', role: 'search', onsubmit: (event) => { event.preventDefault(); location.hash = `#/${part}/${encodeURIComponent(input.value.trim())}`; },
  }, input, el('button', { class: 'plain' }, 'Open'));
}

export function choice(options, attributes = {}) {
  return el('select', attributes, options.map(([value, label]) => el('option', { value }, label)));
}

/**
 * Confirms before it acts. The dialog says what will happen and whether it can be undone, takes a reason where one is
 * recorded, stays open with the problem if the server refuses, and returns the focus to where it was. `onRefused`
 * may handle a refusal itself.
 */
export function act({ title, text, label, danger, reason, extra = [], work, onDone, onRefused = () => null }) {
  const answer = el('div', {});
  const why = reason ? el('textarea', { rows: 2, maxlength: 500, required: reason === 'required' }) : null;
  const confirm = el('button', { class: danger ? 'danger' : 'primary' }, label);
  const dialog = el('dialog', { 'aria-labelledby': 'dialog-title' },
    el('form', {
      class: 'stack',
      onsubmit: (event) => {
        event.preventDefault();
        busy(confirm, async () => {
          try {
            const result = await work({ reason: why?.value.trim() || undefined });
            dialog.close();
            onDone?.(result);
          } catch (problem) {
            const own = problem.slug && onRefused(problem, () => dialog.close());
            show(answer, own || notice('bad', ...(problem.slug ? forOperator(problem) : ['That cannot be sent.', problem.message])));
          }
        });
      },
    },
    el('h2', { id: 'dialog-title' }, title),
    text ? el('p', {}, text) : null,
    extra,
    why ? field(reason === 'required' ? 'Reason' : 'Reason (optional)', why, 'Recorded with the name of your key.') : null,
    answer,
    el('div', { class: 'row' }, confirm,
      el('button', { type: 'button', class: 'plain', onclick: () => dialog.close() }, 'Cancel'))));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Confirms that something was done, with an undo where there is one. */
export function toast(text, undo, kind = 'good') {
  byId('toast')?.remove();
  const back = undo ? el('button', { type: 'button', onclick: () => busy(back, undo) }, 'Undo') : null;
  const note = notice(kind, text, '', ...(back ? [back] : []));
  note.id = 'toast';
  note.classList.add('toast');
  byId('main').append(note);
}
