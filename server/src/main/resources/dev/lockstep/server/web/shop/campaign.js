// One sale: what is left, live, and the way to buy.

import { byId, el, notice, say, show, stockBar } from '../shared/dom.js';
import { get } from '../shared/api.js';
import { explain, plural, state } from '../shared/words.js';
import { coalesced, watchStock } from './live.js';
import { checkout } from './checkout.js';
import { commitments } from './memory.js';
import { visitor } from './visitor.js';
import { triangleSale } from './triangle-sale.js';
import { dropSale } from './drop-sale.js';

const id = location.pathname.split('/')[2];
const POSITIONS_EVERY_MS = 500;
const view = byId('sale');

async function begin() {
  let campaign;
  try {
    [campaign] = await Promise.all([get(`/v1/campaigns/${id}`), visitor.load()]);
  } catch (problem) {
    show(view, el('h1', {}, 'No such sale'), notice('bad', ...explain(problem), el('a', { href: '/' }, 'All sales')));
    return;
  }
  document.title = `${campaign.name} · Lockstep`;
  commitments.note(id, campaign.seedCommitment);
  open(campaign);
}

function open(first) {
  let campaign = first;
  const badge = el('span', { class: 'badge' });
  const bar = stockBar(campaign);
  bar.classList.add('overall');
  const about = el('p', { class: 'quiet' });
  const pause = el('div', { 'aria-live': 'polite' });
  const link = el('p', { class: 'link', role: 'status' });
  const panel = el('section', { class: 'panel', 'aria-labelledby': 'panel-title' });
  const yours = el('section', { class: 'yours', 'aria-labelledby': 'yours-title', hidden: true });
  const sale = campaign.kind === 'triangle' ? triangleSale(campaign) : dropSale(campaign);
  const buying = checkout({ campaign, sale, panel, yours });

  show(view,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '/' }, 'All sales')),
    el('div', { class: 'card-head' }, el('h1', {}, campaign.name), badge),
    about, pause, bar, link,
    el('div', { class: `sale of-${campaign.kind}` }, el('div', { class: 'goods' }, sale.root, yours), panel));

  function update(stock) {
    campaign = { ...campaign, ...stock };
    say(badge, state(campaign));
    badge.dataset.state = campaign.paused && campaign.status === 'published' ? 'paused' : campaign.status;
    say(about, intro(campaign));
    about.hidden = !about.textContent;
    bar.update(campaign);
    showPause(pause, campaign);
    sale.update(campaign);
    buying.update(campaign);
    refreshPositions();
  }

  const refreshPositions = campaign.kind === 'triangle'
    ? coalesced(async () => sale.positions((await get(`/v1/campaigns/${id}/positions`)).items), POSITIONS_EVERY_MS)
    : () => {};
  update(campaign);
  watchStock(id, update, (heard) => say(link, heard ? '' : 'Connection lost; retrying. Counts may be out of date.'));
}

/** How buying works here, while it can be done. */
function intro(campaign) {
  if (campaign.status !== 'published') return '';
  const limit = campaign.purchaseLimit ? `, at most ${campaign.purchaseLimit} per buyer` : '';
  const held = `What you choose is held for you for ${holdTime(campaign.holdSeconds)}${limit}.`;
  return campaign.kind === 'triangle'
    ? `${held} You choose the layer; its positions were shuffled before the sale began.` : held;
}

function holdTime(seconds) {
  return seconds % 60 === 0 ? plural(seconds / 60, 'minute') : plural(seconds, 'second');
}

function showPause(place, campaign) {
  const paused = campaign.paused && campaign.status === 'published';
  const text = paused ? campaign.pauseReason : campaign.status;
  if (place.dataset.shown === text) return;
  place.dataset.shown = text;
  const draw = campaign.kind === 'triangle' && ['soldOut', 'drawn', 'published'].includes(campaign.status);
  const toDraw = draw ? el('a', { href: `/shop/${id}/draw` }, campaign.status === 'drawn' ? 'See the winners and verify the draw' : 'How the draw will work') : null;
  if (paused) {
    show(place, notice('note', 'The sale is paused.', `${campaign.pauseReason} You can still pay for what you hold. This page updates when the sale resumes.`));
  } else if (campaign.status === 'closed') {
    show(place, notice('note', 'This sale has ended.', 'Nothing more is for sale. What you bought stays yours.'));
  } else if (campaign.status === 'soldOut' || campaign.status === 'drawn') {
    show(place, notice('note', campaign.status === 'drawn' ? 'Sold out, and drawn.' : 'Everything is sold.',
      campaign.kind === 'triangle' ? 'Anyone can check that the winners were not chosen by hand.' : 'Thank you. See the other sales.', ...(toDraw ? [toDraw] : [])));
  } else {
    show(place, ...(toDraw ? [el('p', {}, toDraw)] : []));
  }
}

begin();
