// The seat map of a triangle, drawn once; updates touch only what changed, so that 1,275 positions stay light.

import { el } from '../shared/dom.js';
import { plural } from '../shared/words.js';

const PRICE_STEPS = 7;
const FEW_LAYERS = 20;

/** The colour step of a price, from 1 for the lowest price of the sale to 7 for its highest. */
export function priceStep(price, layers) {
  const prices = layers.map((layer) => layer.price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  return low === high ? Math.ceil(PRICE_STEPS / 2)
    : 1 + Math.round(((PRICE_STEPS - 1) * (price - low)) / (high - low));
}

/**
 * A map of the layers. `priceOf` writes a layer's price. `onChoose` receives the chosen layer; keyboard users have
 * the list of layers beside it instead, so nothing in here takes the focus. `onChange` is called for each
 * position that changes its state after the first list.
 */
export function triangle(layers, priceOf, onChoose, onChange) {
  const base = layers.length;
  const seats = new Map();
  const rows = layers.map((layer) => {
    const places = Array.from({ length: layer.layer }, (none, at) => {
      const seat = el('span', { class: 'seat unknown' });
      seats.set(`${layer.layer}.${at + 1}`, { element: seat, state: 'unknown', mine: false });
      return seat;
    });
    return el('div', { class: `layer p${priceStep(layer.price, layers)}`, onclick: () => onChoose(layer.layer) },
      el('span', { class: 'no' }, String(layer.layer)), el('span', { class: 'seats' }, places), el('span', { class: 'pr' }, priceOf(layer)));
  });
  const root = el('div', { class: base > FEW_LAYERS ? 'triangle big' : 'triangle', role: 'img', 'aria-label': 'Triangle' }, el('div', { class: 'rows' }, rows));
  root.style.setProperty('--n', base);
  let known = false;

  function paint(seat) {
    seat.element.className = `seat ${seat.state}${seat.mine ? ' mine' : ''}`;
  }

  function changed(seat, position) {
    const before = seat.state;
    seat.state = position.state;
    paint(seat);
    if (!known || seat.mine || before === 'unknown') return;
    if (before === 'free') {
      seat.element.classList.add('pulse');
      seat.element.addEventListener('animationend', () => seat.element.classList.remove('pulse'), { once: true });
    }
    onChange(position);
  }

  return {
    root,
    /** Before the first list of positions, uses the counts: a uniform layer is drawn at once. */
    guess(now) {
      for (const { layer, total, free, sold } of now) {
        const state = sold === total ? 'sold' : free === total ? 'free' : null;
        for (let column = 1; state && column <= layer; column++) {
          const seat = seats.get(`${layer}.${column}`);
          if (seat.state === 'unknown') {
            seat.state = state;
            paint(seat);
          }
        }
      }
    },
    /** Takes the positions as the server lists them. */
    update(positions) {
      const sums = { free: 0, held: 0, sold: 0 };
      for (const position of positions) {
        sums[position.state]++;
        const seat = seats.get(`${position.layer}.${position.column}`);
        if (seat && seat.state !== position.state) changed(seat, position);
      }
      known = true;
      root.setAttribute('aria-label', `Triangle of ${plural(base, 'layer')}: ${plural(sums.free, 'position')} free,`
        + ` ${sums.held} held, ${sums.sold} sold. The list of layers says the same in words.`);
    },
    /** Marks what is the visitor's own. */
    mark(positions) {
      const mine = new Set(positions.map((position) => `${position.layer}.${position.column}`));
      for (const [name, seat] of seats) {
        if (seat.mine !== mine.has(name)) {
          seat.mine = mine.has(name);
          paint(seat);
        }
      }
    },
    choose(layer) {
      rows.forEach((row, index) => row.classList.toggle('chosen', index + 1 === layer));
    },
  };
}
