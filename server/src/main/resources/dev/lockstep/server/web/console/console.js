// The operator's console: sign-in and navigation.

import { busy, byId, el, field, notice, say, show } from '../shared/dom.js';
import { get, useKey } from '../shared/api.js';
import { forOperator } from '../shared/words.js';
import { overview } from './overview.js';
import { campaigns, campaign } from './campaigns.js';
import { hold, holds } from './holds.js';
import { purchase, purchases } from './purchases.js';
import { reconciliation } from './reconciliation.js';
import { stream, streams } from './streams.js';
import { invariants } from './invariants.js';
import { accounts, account } from './accounts.js';
import { transferPage } from './transfers.js';
import { queues } from './queues.js';
import { job, jobs } from './jobs.js';
import { schedule, schedules } from './schedules.js';
import { database } from './database.js';
import { keys } from './keys.js';

// In sessionStorage: a reload keeps the operator signed in, closing the tab forgets the key, other tabs and the disk
// never see it. Browsers attach cookies to every request, so a cookie would need protection against forgery.
const KEY = 'lockstep.operator-key';
const view = byId('console');

// Path, name, renderer, and renderer of a single item. Of several parts with one name, only the first has a link.
const GROUPS = [
  ['', [['overview', 'Overview', overview]]],
  ['Sales', [
    ['campaigns', 'Campaigns', campaigns, campaign],
    ['holds', 'Holds', holds, hold],
    ['purchases', 'Purchases', purchases, purchase],
  ]],
  ['Money', [
    ['reconciliation', 'Reconciliation', reconciliation],
    ['accounts', 'Accounts', accounts, account],
    ['transfers', 'Accounts', accounts, transferPage],
  ]],
  ['Work', [
    ['jobs', 'Jobs', jobs, job],
    ['queues', 'Queues', queues],
    ['schedules', 'Schedules', schedules, schedule],
  ]],
  ['Streams', [['streams', 'Streams', streams, stream]]],
  ['System', [
    ['invariants', 'Invariants', invariants],
    ['database', 'Database', database],
    ['keys', 'Keys', keys],
  ]],
];
const PARTS = GROUPS.flatMap(([, parts]) => parts);

/** The links of a group, one per name. */
function group([title, parts], current) {
  const links = parts.filter(([, label], at) => parts.findIndex((one) => one[1] === label) === at);
  return el('div', { class: 'group' }, title ? el('p', { class: 'group-name' }, title) : null,
    links.map(([path, label]) => el('a', { href: `#/${path}`, 'aria-current': label === current ? 'page' : null }, label)));
}

useKey(() => sessionStorage.getItem(KEY));
let leave = () => {};

function signOut() {
  sessionStorage.removeItem(KEY);
  location.hash = '';
  route();
}

function signIn(message) {
  leave();
  document.title = 'Console · Lockstep';
  const input = el('input', { type: 'password', autocomplete: 'off', required: true, spellcheck: 'false', id: 'key' });
  const submit = el('button', { class: 'primary' }, 'Sign in');
  const answer = el('div', {}, message);
  show(view, el('h1', {}, 'Console'), el('form', {
    class: 'stack panel signin',
    onsubmit: (event) => {
      event.preventDefault();
      busy(submit, async () => {
        sessionStorage.setItem(KEY, input.value.trim());
        try {
          await get('/v1/invariants');
          route();
          byId('main').focus();
        } catch (problem) {
          sessionStorage.removeItem(KEY);
          show(answer, notice('bad', ...forOperator(problem)));
        }
      });
    },
  },
  field('Operator key', input, 'The server prints one at its first start. It stays in this tab until you close it or sign out.'),
  answer, submit));
  input.focus();
}

function route() {
  byId('toast')?.remove();
  leave();
  leave = () => {};
  if (!sessionStorage.getItem(KEY)) {
    signIn();
    return;
  }
  const [path, query] = location.hash.slice(2).split('?');
  const [name, id] = path.split('/');
  const part = PARTS.find(([path]) => path === name) || PARTS[0];
  const body = el('div', { 'aria-busy': 'true' }, el('div', { class: 'head' }, el('h1', {}, part[1])), el('p', { class: 'quiet' }, 'Loading …'));
  const link = el('p', { class: 'link', role: 'status' });
  const tabs = el('nav', { class: 'tabs', 'aria-label': 'Console' }, GROUPS.map((one) => group(one, part[1])));
  show(view, el('div', { class: 'desk' },
    el('div', { class: 'side' }, tabs, el('button', { type: 'button', class: 'plain', onclick: signOut }, 'Sign out')),
    el('div', { class: 'work' }, link, body,
      el('p', { class: 'zone quiet' }, `Times are those of ${Intl.DateTimeFormat().resolvedOptions().timeZone} unless they say otherwise.`))));
  // On a phone the tabs are a strip: scroll to the current one.
  const open = tabs.querySelector('[aria-current]');
  tabs.scrollLeft = open.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - open.offsetWidth) / 2;
  document.title = `${part[1]} · Lockstep console`;
  const ends = [];
  leave = () => ends.forEach((end) => end());
  const place = {
    body,
    /** The filters in the address, so that a link can lead to a search. */
    query: new URLSearchParams(query),
    /** Runs when the operator leaves the part. */
    onLeave: (end) => ends.push(end),
    /** Shows a warning while the content cannot be refreshed. */
    heard: (well) => say(link, well ? '' : 'The server does not answer. Figures may be out of date; retrying.'),
    /** Shows a part's failure; a refused key leads back to the sign-in. */
    failed(problem) {
      if (problem.slug === 'unauthorized') {
        sessionStorage.removeItem(KEY);
        signIn(notice('bad', ...forOperator(problem)));
      } else {
        show(body, notice('bad', ...forOperator(problem),
          el('button', { type: 'button', onclick: route }, 'Try again')));
      }
    },
  };
  const work = id && part[3] ? part[3](place, decodeURIComponent(id)) : part[2](place);
  work.catch((problem) => place.failed(problem)).finally(() => body.setAttribute('aria-busy', 'false'));
}

window.addEventListener('hashchange', () => {
  route();
  byId('main').focus();
});
route();
