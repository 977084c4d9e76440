// The list of sales.

import { byId, el, notice, say, stockBar } from '../shared/dom.js';
import { all } from '../shared/api.js';
import { explain, money, plural, state } from '../shared/words.js';

const REFRESH_MS = 3_000;
const list = byId('sales');
const message = byId('message');
const cards = new Map();

function prices(campaign) {
  const each = (campaign.layers || campaign.products).map((item) => item.price);
  const [low, high] = [Math.min(...each), Math.max(...each)];
  return low === high ? money(low, campaign.currency)
    : `${money(low, campaign.currency)} to ${money(high, campaign.currency)}`;
}

function facts(campaign) {
  const parts = [
    campaign.kind === 'triangle' ? `Triangle of ${plural(campaign.layers.length, 'layer')}` : plural(campaign.products.length, 'product'),
    prices(campaign),
  ];
  if (campaign.purchaseLimit) parts.push(`at most ${campaign.purchaseLimit} per buyer`);
  return parts.map((part) => el('span', {}, part));
}

function card(campaign) {
  const badge = el('span', { class: 'badge' });
  const bar = stockBar(campaign);
  const link = el('a', { href: `/shop/${campaign.id}` }, campaign.name);
  const item = el('li', { class: 'card' }, el('div', { class: 'card-head' }, el('h2', {}, link), badge),
    el('p', { class: 'quiet facts' }, facts(campaign)), bar);
  item.update = (now) => {
    say(badge, state(now));
    badge.dataset.state = now.paused && now.status === 'published' ? 'paused' : now.status;
    bar.update(now);
  };
  return item;
}

/** Open sales first, then the newest. Elements already in place stay untouched. */
function order(sales) {
  const open = (campaign) => (campaign.status === 'published' ? 0 : 1);
  const wanted = [...sales].sort((a, b) => open(a) - open(b)).map((campaign) => cards.get(campaign.id));
  if (wanted.every((card, at) => list.children[at] === card)) return;
  const focused = document.activeElement;
  list.replaceChildren(...wanted);
  if (list.contains(focused)) focused.focus({ preventScroll: true });
}

let told = '';

/** Only once: a screen reader would read each repetition. */
function tell(kind, title, next) {
  if (told === `${kind} ${title}`) return;
  told = `${kind} ${title}`;
  message.replaceChildren(...(kind ? [notice(kind, title, next)] : []));
}

async function refresh() {
  if (document.hidden) return;
  try {
    const sales = (await all('/v1/campaigns')).filter((campaign) => campaign.status !== 'draft').reverse();
    for (const campaign of sales) {
      if (!cards.has(campaign.id)) cards.set(campaign.id, card(campaign));
      cards.get(campaign.id).update(campaign);
    }
    order(sales);
    tell(...(sales.length ? [] : ['note', 'Nothing is on sale yet.', 'A sale appears here as soon as an operator opens it in the console.']));
  } catch (problem) {
    tell('bad', ...explain(problem));
  }
  list.setAttribute('aria-busy', 'false');
}

setInterval(refresh, REFRESH_MS);
document.addEventListener('visibilitychange', refresh);
refresh();
