// The triangle, drawn once; updates touch only what changed, so that 1,275 positions stay light.

import { svg, say } from '../shared/dom.js';
import { plural } from '../shared/words.js';

const STEP = 20;
const RISE = 17.5;
const RADIUS = 7.5;
const PADDING = 4;

/**
 * A drawing of `baseLength` layers. `onChoose` receives the layer pointed at; keyboard users have the list of
 * layers beside it instead, so nothing in here takes the focus.
 */
export function triangle(baseLength, onChoose) {
  const width = baseLength * STEP + 2 * PADDING;
  const height = (baseLength - 1) * RISE + STEP + 2 * PADDING;
  const title = svg('title', { id: 'triangle-title' });
  const root = svg('svg', {
    class: 'triangle', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-labelledby': 'triangle-title',
  }, title);
  const rows = [];
  const places = new Map();
  for (let layer = 1; layer <= baseLength; layer++) {
    const y = PADDING + STEP / 2 + (layer - 1) * RISE;
    const left = (width - layer * STEP) / 2;
    const row = svg('g', { class: 'layer', onclick: () => onChoose(layer) },
      svg('rect', { x: left - 1, y: y - RISE / 2, width: layer * STEP + 2, height: RISE, rx: RISE / 2 }));
    for (let column = 1; column <= layer; column++) {
      const circle = svg('circle', { class: 'unknown', cx: left + (column - 0.5) * STEP, cy: y, r: RADIUS });
      places.set(`${layer}.${column}`, { circle, state: 'unknown', mine: false });
      row.append(circle);
    }
    rows.push(row);
    root.append(row);
  }

  function paint(place) {
    place.circle.setAttribute('class', place.mine ? `${place.state} mine` : place.state);
  }

  // Otherwise a few discs would grow to fill the page.
  root.style.maxWidth = `${baseLength * 4.5}rem`;

  return {
    root,
    /** What the counts alone tell, before the first list of positions: a uniform layer is drawn at once. */
    guess(layers) {
      for (const { layer, total, free, sold } of layers) {
        const state = sold === total ? 'sold' : free === total ? 'free' : null;
        for (let column = 1; state && column <= layer; column++) {
          const place = places.get(`${layer}.${column}`);
          if (place.state === 'unknown') {
            place.state = state;
            paint(place);
          }
        }
      }
    },
    /** Takes the positions as the server lists them. */
    update(positions) {
      const sums = { free: 0, held: 0, sold: 0 };
      for (const position of positions) {
        sums[position.state]++;
        const place = places.get(`${position.layer}.${position.column}`);
        if (place && place.state !== position.state) {
          place.state = position.state;
          paint(place);
        }
      }
      say(title, `Triangle of ${plural(baseLength, 'layer')}: ${plural(sums.free, 'position')} free,`
        + ` ${sums.held} held, ${sums.sold} sold. The list of layers says the same in words.`);
    },
    /** Marks what is the visitor's own. */
    mark(positions) {
      const mine = new Set(positions.map((position) => `${position.layer}.${position.column}`));
      for (const [name, place] of places) {
        if (place.mine !== mine.has(name)) {
          place.mine = mine.has(name);
          paint(place);
        }
      }
    },
    choose(layer) {
      rows.forEach((row, index) => row.classList.toggle('chosen', index + 1 === layer));
    },
  };
}
