// A small plot of the last two minutes: one or two lines, the newest figure large, and a description in words.

import { el, say, svg } from '../shared/dom.js';

const SPAN_MS = 120_000;
const WIDTH = 300;
const HEIGHT = 100;

/** `unit` follows each figure, or formats it; `second`: plots two lines, medians and 95th percentiles. */
export function plot(title, unit, second) {
  const written = typeof unit === 'function' ? unit : (value) => `${round(value)} ${unit}`;
  const lines = [svg('polyline', {}), second ? svg('polyline', { class: 'second' }) : null].filter(Boolean);
  let points = [];
  const figure = el('p', { class: 'figure' }, '–');
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': title },
    svg('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 1, y2: HEIGHT - 1 }), svg('line', { x1: 0, x2: WIDTH, y1: 1, y2: 1 }), lines);
  const top = el('span', {}, 'nothing yet');
  const root = el('div', { class: 'plot card' }, el('h3', {}, title), figure, drawing,
    el('p', { class: 'axis quiet' }, el('span', {}, '2 min ago'), top, el('span', {}, 'now')));

  return {
    root,
    /** Adds a point to each line; null where there is nothing to show. */
    add(...values) {
      const now = performance.now();
      points = [...points, { at: now, values }].filter((point) => now - point.at <= SPAN_MS);
      const known = points.flatMap((point) => point.values).filter((value) => value !== null && value !== undefined);
      const highest = Math.max(...known, 0);
      lines.forEach((line, index) => {
        line.setAttribute('points', points.filter((point) => Number.isFinite(point.values[index])).map((point) => {
          const x = WIDTH - ((now - point.at) * WIDTH) / SPAN_MS;
          return `${x.toFixed(1)},${(HEIGHT - 2 - ((HEIGHT - 6) * point.values[index]) / (highest || 1)).toFixed(1)}`;
        }).join(' '));
      });
      const words = values.map((value) => (Number.isFinite(value) ? written(value) : '–'));
      say(figure, second ? `p50 ${words[0]} · p95 ${words[1]}` : words[0]);
      say(top, known.length ? `highest ${written(highest)}${second ? ', p95 dashed' : ''}` : 'nothing yet');
      drawing.setAttribute('aria-label', `${title}: now ${words.join(', ')}; highest of the last two minutes ${written(highest)}`);
    },
  };
}

function round(value) {
  return value >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10);
}
