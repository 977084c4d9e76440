// A graph of lock waits: the holders of locks on the left, their waiters to the right.

import { el, notice, svg } from '../shared/dom.js';
import { seconds } from '../shared/words.js';

const BOX = { width: 200, height: 48 };
const APART = { x: 280, y: 64 };
const MARGIN = 10;
const BOW = 28;

export function lockGraph(sessions) {
  const byPid = new Map(sessions.map((one) => [one.pid, one]));
  const waiting = sessions.filter((one) => one.blockedBy.length);
  if (!waiting.length) return notice('good', 'No session waits for a lock.', '');
  const at = places(byPid, new Set(waiting.flatMap((one) => [one.pid, ...one.blockedBy])));
  const all = [...at.values()];
  const width = Math.max(...all.map((one) => one.x)) + BOX.width + MARGIN;
  const height = Math.max(...all.map((one) => one.y)) + BOX.height + MARGIN + BOW;
  const words = waiting.map((one) => `${one.pid} waits for ${one.blockedBy.join(' and ')}`).join('; ');
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Lock graph', id: 'lock-graph' },
    svg('svg', { class: 'locks', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': words },
      svg('defs', {}, svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto-start-reverse' },
        svg('path', { d: 'M0 0 8 4 0 8z' }))),
      waiting.flatMap((one) => one.blockedBy.map((blocker) => arrow(at.get(one.pid), at.get(blocker)))),
      [...at].map(([pid, place]) => box(pid, place, byPid.get(pid)))),
    el('p', { class: 'quiet told' }, `Arrows lead from the waiting session to the lock’s holder: ${words}.`));
}

/** One column per level of waiting. A cycle, which is a deadlock, ends where it began. */
function places(byPid, shown) {
  const columns = new Map();
  const column = (pid, seen = new Set()) => {
    if (columns.has(pid)) return columns.get(pid);
    const blockers = seen.has(pid) ? [] : byPid.get(pid)?.blockedBy ?? [];
    seen.add(pid);
    const found = blockers.length ? 1 + Math.max(...blockers.map((one) => column(one, seen))) : 0;
    columns.set(pid, found);
    return found;
  };
  const rows = [];
  const at = new Map();
  for (const pid of [...shown].sort((a, b) => column(a) - column(b))) {
    const x = column(pid);
    rows[x] = (rows[x] ?? 0) + 1;
    at.set(pid, { x: MARGIN + x * APART.x, y: MARGIN + (rows[x] - 1) * APART.y });
  }
  return at;
}

/** A straight line to the next column, or a bow below the columns in between. */
function arrow(from, to) {
  const [x1, y1, x2, y2] = [from.x, from.y + BOX.height / 2, to.x + BOX.width + 6, to.y + BOX.height / 2];
  if (from.x - to.x <= APART.x) return svg('line', { x1, y1, x2, y2, class: 'wait', 'marker-end': 'url(#arrow)' });
  const below = Math.max(from.y, to.y) + BOX.height + BOW;
  return svg('path', { d: `M${x1} ${y1 + 10} C${x1 - 50} ${below} ${x2 + 50} ${below} ${x2} ${y2 + 10}`, class: 'wait', 'marker-end': 'url(#arrow)' });
}

function box(pid, { x, y }, session) {
  return svg('g', { class: session?.blockedBy.length ? 'waits' : 'has' },
    session ? svg('title', {}, session.query) : null,
    svg('rect', { x, y, width: BOX.width, height: BOX.height, rx: 6 }),
    svg('text', { x: x + 10, y: y + 20 }, `Process ${pid}`),
    svg('text', { x: x + 10, y: y + 38, class: 'small' }, session ? `${session.state}, ${seconds(session.stateSeconds)}` : 'of another database'));
}
