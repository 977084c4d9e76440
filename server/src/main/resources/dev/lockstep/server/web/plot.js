// A small plot of the last minutes: one or two lines, the newest figure in large, and the same in words.

import { el, say, svg } from './dom.js';

const POINTS = 60;
const WIDTH = 300;
const HEIGHT = 100;

export function plot(title, unit, second) {
  const lines = [svg('polyline', {}), second ? svg('polyline', { class: 'second' }) : null].filter(Boolean);
  const series = lines.map(() => []);
  const figure = el('p', { class: 'figure' }, '–');
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': title },
    svg('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 1, y2: HEIGHT - 1 }), svg('line', { x1: 0, x2: WIDTH, y1: 1, y2: 1 }), lines);
  const top = el('p', { class: 'quiet' }, '');
  const root = el('div', { class: 'plot card' }, el('h3', {}, title), figure, drawing, top);

  return {
    root,
    /** Adds a point to each line; null where there is nothing to show. */
    add(...values) {
      series.forEach((points, index) => {
        points.push(values[index] ?? null);
        if (points.length > POINTS) points.shift();
      });
      const known = series.flat().filter((value) => value !== null);
      const highest = Math.max(...known, 0);
      const scale = highest || 1;
      lines.forEach((line, index) => {
        const points = series[index].map((value, at) => (value === null ? null
          : `${((at + POINTS - series[index].length) * WIDTH) / (POINTS - 1)},${HEIGHT - 2 - ((HEIGHT - 6) * value) / scale}`));
        line.setAttribute('points', points.filter((point) => point !== null).join(' '));
      });
      const now = values.map((value) => (value === null || value === undefined ? '–' : `${round(value)} ${unit}`));
      say(figure, second ? `p50 ${now[0]} · p95 ${now[1]}` : now[0]);
      say(top, known.length ? `Last two minutes, highest ${round(highest)} ${unit}` : 'Nothing yet: figures appear with the first sales.');
      drawing.setAttribute('aria-label', `${title}: now ${now.join(', ')}; highest of the last minutes ${round(highest)} ${unit}`);
    },
  };
}

function round(value) {
  return value >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10);
}
