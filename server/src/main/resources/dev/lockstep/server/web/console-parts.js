// What the console's parts have in common: tables, lists that page, and actions that ask first.

import { busy, byId, el, field, notice, show } from './dom.js';
import { get } from './api.js';
import { forOperator } from './words.js';

export function table(label, columns, rows, empty) {
  if (!rows.length) return notice('note', empty[0], empty[1]);
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    el('table', {}, el('thead', {}, el('tr', {}, columns.map((name) => el('th', { scope: 'col' }, name)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, row.map((cell) => (cell instanceof Element && cell.tagName === 'TD' ? cell : el('td', {}, cell))))))));
}

export const name = (...content) => el('td', { class: 'name' }, ...content);
export const code = (text) => el('code', {}, text);
export const badge = (text, state = text) => el('span', { class: 'badge', 'data-state': state }, text);

export function head(title, ...actions) {
  return el('div', { class: 'head' }, el('h1', {}, title), el('div', { class: 'row' }, actions));
}

/** A list that shows a page at a time. `row` makes the cells of an item. */
export function paged({ place, label, path, columns, row, empty, limit = 50 }) {
  const root = el('div', {});
  const loaded = [];
  let next = null;

  async function load(more) {
    const url = new URL(path(), location.origin);
    url.searchParams.set('limit', limit);
    if (more && next) url.searchParams.set('after', next);
    try {
      const page = await get(url.pathname + url.search);
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

/** Filters above a list: labelled controls, applied by pressing Enter or the button. */
export function filters(controls, apply) {
  return el('form', {
    class: 'filters', role: 'search', onsubmit: (event) => { event.preventDefault(); apply(); },
  }, controls.map(([label, control]) => field(label, control)), el('button', {}, 'Search'));
}

export function choice(options, attributes = {}) {
  return el('select', attributes, options.map(([value, label]) => el('option', { value }, label)));
}

/**
 * Asks before it acts. The dialog says what will happen and whether it can be undone, takes a reason where one is
 * recorded, stays open with the problem when the server refuses, and gives the focus back to where it was. `onRefused`
 * may answer a refusal in its own way.
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
    why ? field(reason === 'required' ? 'Reason' : 'Reason (may stay empty)', why, 'Kept with your key’s name in the record of actions.') : null,
    answer,
    el('div', { class: 'row' }, confirm,
      el('button', { type: 'button', class: 'plain', onclick: () => dialog.close() }, 'Cancel'))));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Says that something was done, with a way back where there is one. */
export function toast(text, undo) {
  byId('toast')?.remove();
  const back = undo ? el('button', { type: 'button', onclick: () => busy(back, undo) }, 'Undo') : null;
  const note = notice('good', text, '', ...(back ? [back] : []));
  note.id = 'toast';
  note.classList.add('toast');
  byId('main').append(note);
}
