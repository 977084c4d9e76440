// Months with the events of each day, in a chosen time zone.

import { el } from '../shared/dom.js';
import { plural } from '../shared/words.js';

const DAYS = [['Mon', 'Monday'], ['Tue', 'Tuesday'], ['Wed', 'Wednesday'], ['Thu', 'Thursday'], ['Fri', 'Friday'], ['Sat', 'Saturday'], ['Sun', 'Sunday']];
const SHOWN_TIMES = 2;

/** The date and the time of day that an instant has in a zone. */
export function local(instant, zone) {
  const parts = Object.fromEntries(new Intl.DateTimeFormat('en-GB', {
    timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
  }).formatToParts(new Date(instant)).map((part) => [part.type, part.value]));
  const seconds = parts.second === '00' ? '' : `:${parts.second}`;
  return { month: `${parts.year}-${parts.month}`, day: Number(parts.day), time: `${parts.hour}:${parts.minute}${seconds}` };
}

/** One table per month with events, for the first few months. */
export function calendar(instants, zone, mostMonths = 3) {
  const months = new Map();
  for (const instant of instants) {
    const at = local(instant, zone);
    if (!months.has(at.month)) months.set(at.month, new Map());
    const days = months.get(at.month);
    days.set(at.day, [...(days.get(at.day) ?? []), at.time]);
  }
  return el('div', { class: 'months' }, [...months].slice(0, mostMonths).map(([month, days]) => table(month, days)));
}

function table(month, days) {
  const [year, number] = month.split('-').map(Number);
  const title = new Date(Date.UTC(year, number - 1, 1)).toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  // Weeks begin on Monday; cells before the first and after the last day stay empty.
  const before = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7;
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const cells = [...Array(before).fill(null), ...Array.from({ length }, (_, index) => index + 1)];
  while (cells.length % 7) cells.push(null);
  const weeks = Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(7 * week, 7 * week + 7));
  return el('table', { class: 'month' }, el('caption', {}, title),
    el('thead', {}, el('tr', {}, DAYS.map(([short, long]) => el('th', { scope: 'col', abbr: long }, short)))),
    el('tbody', {}, weeks.map((week) => el('tr', {}, week.map((day) => cell(day, days.get(day)))))));
}

function cell(day, times = []) {
  if (day === null) return el('td', { class: 'none' });
  return el('td', { class: times.length ? 'busy' : null }, el('span', { class: 'day' }, String(day)),
    times.length > SHOWN_TIMES
      ? el('span', { class: 'times' }, plural(times.length, 'run'))
      : times.map((time) => el('span', { class: 'times' }, time)));
}
