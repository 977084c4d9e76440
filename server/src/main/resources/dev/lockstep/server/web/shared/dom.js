// Elements without markup: user input becomes a text node, never HTML. The page's policy
// (trusted types, none allowed) makes the browser refuse any other way.

import { count } from './words.js';

const SVG = 'http://www.w3.org/2000/svg';

/** An element. Attributes that are null or false are left out; functions become listeners (onclick). */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Sets text only if it changed: screen readers repeat rewritten text. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Replaces the children. Focus and sideways scroll survive if their element reappears: the
 * focused one by its id, the scrolled one by its label.
 */
export function show(parent, ...children) {
  const focused = document.activeElement?.id;
  const scrolled = [...parent.querySelectorAll('.scroll')].filter((one) => one.scrollLeft > 0).map((one) => [one.getAttribute('aria-label'), one.scrollLeft]);
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  for (const [label, left] of scrolled) {
    const again = [...parent.querySelectorAll('.scroll')].find((one) => one.getAttribute('aria-label') === label);
    if (again) again.scrollLeft = left;
  }
  if (focused && document.activeElement === document.body) byId(focused)?.focus({ preventScroll: true });
}

/** The same for periodic updates, which screen readers do not announce. */
export function redraw(parent, ...children) {
  show(parent, ...children);
  for (const loud of parent.querySelectorAll('[role=alert], [role=status]')) loud.removeAttribute('role');
}

let announcer;

/** Announces to screen readers, without a visible change. */
export function announce(text) {
  if (!announcer) {
    announcer = el('p', { class: 'unseen', role: 'status' });
    document.body.append(announcer);
  }
  announcer.textContent = '';
  // In a later turn: otherwise repeating the same words is no change, and not read out.
  setTimeout(() => { announcer.textContent = text; }, 50);
}

/** A field: label, control, and a hint below. */
export function field(label, control, help) {
  const id = control.id || `field-${++fields}`;
  control.id = id;
  const hint = help ? el('small', { id: `${id}-help` }, help) : null;
  if (hint) control.setAttribute('aria-describedby', hint.id);
  return el('div', { class: 'field' }, el('label', { for: id }, label), control, hint);
}

let fields = 0;

/** A button that ignores presses while its action is running. */
export function button(label, attributes, work) {
  const made = el('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', () => busy(made, work));
  return made;
}

export async function busy(control, work) {
  if (control.getAttribute('aria-busy') === 'true') return undefined;
  // Not `disabled`, which would take the keyboard focus away.
  control.setAttribute('aria-busy', 'true');
  try {
    return await work();
  } finally {
    control.removeAttribute('aria-busy');
  }
}

/** A message with what to do next. Kind: good, note, warn or bad. */
export function notice(kind, title, next, ...actions) {
  return el('div', { class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : 'status' },
    el('p', { class: 'notice-title' }, title),
    next ? el('p', {}, next) : null,
    actions.length ? el('p', { class: 'row' }, actions) : null);
}

/** The sold, held and free shares of a stock, as a bar and in words. */
export function stockBar(stock) {
  const bar = el('div', { class: 'stock', role: 'img' }, el('span', { class: 'sold' }), el('span', { class: 'held' }));
  const words = el('p', { class: 'stock-words' });
  const whole = el('div', {}, bar, words);
  whole.update = (now) => {
    const share = (count) => `${now.total ? (100 * count) / now.total : 0}%`;
    bar.children[0].style.width = share(now.sold);
    bar.children[1].style.width = share(now.held);
    const text = `${count(now.free)} free, ${count(now.held)} held, ${count(now.sold)} sold of ${count(now.total)}`;
    bar.setAttribute('aria-label', text);
    say(words, text);
  };
  whole.update(stock);
  return whole;
}
