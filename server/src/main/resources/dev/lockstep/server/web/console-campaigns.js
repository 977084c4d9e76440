// Campaigns: made, published, paused, resumed, closed; and what happened to their stock.

import { el, notice, show, stockBar } from './dom.js';
import { all, get, post } from './api.js';
import { money, state, time } from './words.js';
import { act, badge, choice, code, filters, head, name, paged, table, toast } from './console-parts.js';
import { newCampaign } from './console-new-campaign.js';

export async function campaigns(place) {
  const found = await all('/v1/campaigns');
  show(place.body,
    head('Campaigns', el('button', { type: 'button', class: 'primary', id: 'create', onclick: () => newCampaign((made) => { location.hash = `#/campaigns/${made.id}`; }) }, 'New campaign')),
    table('Campaigns', ['Name', 'Kind', 'State', 'Free', 'Held', 'Sold', 'Total', 'Id'], found.reverse().map((one) => [
      name(el('a', { href: `#/campaigns/${one.id}` }, one.name)), one.kind, stateOf(one),
      String(one.free), String(one.held), String(one.sold), String(one.total), code(one.id)]),
    ['There is no campaign yet.', 'Make one with “New campaign”: it begins as a draft that nobody can buy from.']));
}

function stateOf(one) {
  return badge(one.status === 'draft' ? 'Draft' : state(one), one.paused ? 'paused' : one.status);
}

export async function campaign(place, id) {
  const path = `/v1/campaigns/${encodeURIComponent(id)}`;
  const reload = () => campaign(place, id).catch((problem) => place.failed(problem));
  const now = await get(path);
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/campaigns' }, 'All campaigns')),
    head(now.name, stateOf(now), ...actions(now, path, reload)),
    now.paused ? notice('note', 'Paused.', now.pauseReason) : null,
    stockBar(now),
    facts(now),
    stock(now),
    await record(path),
    trail(place, now, path));
}

function facts(now) {
  const fact = (label, value) => el('div', {}, el('dt', {}, label), el('dd', {}, value));
  return el('dl', { class: 'block' },
    fact('Id', code(now.id)),
    fact('Limit for a buyer', now.purchaseLimit ? String(now.purchaseLimit) : 'none'),
    fact('Held for', `${now.holdSeconds} s`),
    now.prizes.length ? fact('Prizes', now.prizes.map((prize) => `${prize.quantity} × ${prize.name}`).join(', ')) : null,
    now.seedCommitment ? fact('Seed commitment', code(now.seedCommitment)) : null,
    fact('Pages', el('span', { class: 'row' }, el('a', { href: `/shop/${now.id}` }, 'In the shop'),
      now.kind === 'triangle' ? el('a', { href: `/shop/${now.id}/draw` }, 'The draw') : null)));
}

function stock(now) {
  const items = now.layers || now.products;
  return el('section', { class: 'block' }, el('h2', {}, 'Stock'),
    table('Stock', [now.layers ? 'Layer' : 'Product', 'Price', 'Free', 'Held', 'Sold', 'Total'], items.map((item) => [
      name(item.sku ? `${item.name} (${item.sku})` : String(item.layer)), money(item.price, now.currency),
      String(item.free), String(item.held), String(item.sold), String(item.total)]), ['No stock.', '']));
}

async function record(path) {
  const done = await all(`${path}/actions`);
  return el('section', { class: 'block' }, el('h2', {}, 'What operators did'),
    table('Actions', ['When', 'What', 'Who', 'Why', 'Which'], done.map((one) => [
      time(one.at), one.action, el('td', { class: 'id' }, code(one.actor)), name(one.reason || '–'), one.subject ? el('td', { class: 'id' }, code(one.subject)) : '–']), ['Nothing yet.', '']));
}

function trail(place, now, path) {
  const pools = (now.layers || now.products).map((item) => (item.sku ? [item.sku, item.name] : [String(item.layer), `Layer ${item.layer}`]));
  const pool = choice([['', 'All'], ...pools]);
  const list = paged({
    place,
    label: 'Stock changes',
    path: () => `${path}/audit${pool.value ? `?pool=${encodeURIComponent(pool.value)}` : ''}`,
    columns: ['When', 'Pool', 'No.', 'Cause', 'Held', 'Sold', 'Who', 'Hold'],
    row: (one) => [time(one.at), one.pool, String(one.seq), one.cause, `${one.heldBefore} → ${one.heldAfter}`,
      `${one.soldBefore} → ${one.soldAfter}`, el('td', { class: 'id' }, code(one.actor)), el('td', { class: 'id' }, code(one.hold))],
    empty: ['No stock has moved yet.', 'Every hold, sale, release and expiry appears here.'],
  });
  list.load();
  return el('section', { class: 'block' }, el('h2', {}, 'Audit trail'), filters([['Pool', pool]], list.load), list.root);
}

function actions(now, path, reload) {
  const made = [];
  const add = (label, options) => made.push(el('button', {
    type: 'button', class: options.danger ? 'danger' : null, id: `do-${label.toLowerCase()}`,
    onclick: () => act({ label, ...options }),
  }, label));
  const done = (text, undo) => async () => {
    await reload();
    toast(text, undo);
  };
  if (now.status === 'draft') {
    add('Publish', {
      title: `Publish “${now.name}”?`,
      text: 'Its stock is made and shuffled, and people can buy at once. It cannot become a draft again; you can pause or close it.',
      reason: 'optional',
      work: ({ reason }) => post(`${path}/publish`, { reason: reason ?? null }),
      onDone: done('Published.'),
    });
  }
  const pause = (reason) => post(`${path}/pause`, { reason });
  const resume = (reason) => post(`${path}/resume`, { reason });
  if (now.status === 'published' && !now.paused) {
    add('Pause', {
      title: `Pause “${now.name}”?`,
      text: 'Nobody can take anything new; who holds something can still pay. Buyers see the reason. You can resume at any time.',
      reason: 'required',
      work: ({ reason }) => pause(reason),
      onDone: done('Paused.', async () => { await resume('Undone: pause'); await done('Resumed.')(); }),
    });
  }
  if (now.status === 'published' && now.paused) {
    add('Resume', {
      title: `Resume “${now.name}”?`,
      text: 'Selling goes on at once.',
      reason: 'optional',
      work: ({ reason }) => resume(reason ?? null),
      onDone: done('Resumed.', async () => { await pause(now.pauseReason); await done('Paused again.')(); }),
    });
  }
  if (['draft', 'published', 'soldOut'].includes(now.status)) {
    add('Close', {
      title: `Close “${now.name}” for good?`,
      text: 'This cannot be undone. Nothing more is sold; who holds something can still pay. To stop for a while, pause it instead.',
      danger: true,
      reason: 'required',
      work: ({ reason }) => post(`${path}/close`, { reason }),
      onDone: done('Closed.'),
    });
  }
  return made;
}
