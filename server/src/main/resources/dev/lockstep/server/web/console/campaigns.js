// Campaigns: created, published, paused, resumed, closed; and their stock's audit trail.

import { el, notice, show, stockBar } from '../shared/dom.js';
import { all, get, post } from '../shared/api.js';
import { money, seconds, state, time } from '../shared/words.js';
import { act, badge, choice, code, every, fact, figure, filters, head, identity, name, paged, prose, table, toast } from './parts.js';
import { newCampaign } from './new-campaign.js';

const EVERY_MS = 3_000;

export async function campaigns(place) {
  const found = await all('/v1/campaigns');
  show(place.body,
    head('Campaigns', el('button', { type: 'button', class: 'primary', id: 'create', onclick: () => newCampaign((made) => { location.hash = `#/campaigns/${made.id}`; }) }, 'New campaign')),
    table('Campaigns', ['Name', 'Kind', 'State', 'Free', 'Held', 'Sold', 'Total', 'Id'], found.reverse().map((one) => [
      name(el('a', { href: `#/campaigns/${one.id}` }, one.name)), one.kind, stateOf(one),
      figure(one.free), figure(one.held), figure(one.sold), figure(one.total), code(one.id)]),
    ['There are no campaigns yet.', 'Create one with “New campaign”: it starts as a draft that only operators see.']));
}

function stateOf(one) {
  return badge(one.status === 'draft' ? 'Draft' : state(one), one.paused ? 'paused' : one.status);
}

export async function campaign(place, id) {
  const path = `/v1/campaigns/${encodeURIComponent(id)}`;
  let stop = () => {};
  const reload = () => { stop(); return campaign(place, id).catch((problem) => place.failed(problem)); };
  const now = await get(path);
  const bar = stockBar(now);
  const pools = el('div', {}, stock(now));
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/campaigns' }, 'All campaigns')),
    head(now.name, stateOf(now), ...actions(now, path, reload)),
    now.paused ? notice('note', 'Paused.', now.pauseReason) : null,
    bar,
    facts(now),
    el('section', { class: 'block' }, el('h2', {}, 'Stock'), pools),
    await record(path),
    trail(place, now, path));
  stop = every(place, async () => {
    const later = await get(path);
    bar.update(later);
    show(pools, stock(later));
    // Somebody else has paused it, or it has sold out: the available actions have changed, too.
    if (later.status !== now.status || later.paused !== now.paused) await reload();
  }, EVERY_MS);
}

function facts(now) {
  return el('dl', { class: 'block' },
    fact('Id', code(now.id)),
    fact('Limit per buyer', now.purchaseLimit ? String(now.purchaseLimit) : 'none'),
    fact('Held for', seconds(now.holdSeconds)),
    fact('Extensions per buyer', `${now.maxExtensions}, up to ${seconds(now.maxHoldSeconds)} in total`),
    now.prizes.length ? fact('Prizes', now.prizes.map((prize) => `${prize.quantity} × ${prize.name}`).join(', ')) : null,
    now.kind === 'triangle' && now.seedCommitment ? fact('Seed commitment', code(now.seedCommitment)) : null,
    now.publishedAt ? fact('Pages', el('span', { class: 'row' }, el('a', { href: `/shop/${now.id}` }, 'In the shop'),
      now.kind === 'triangle' ? el('a', { href: `/shop/${now.id}/draw` }, 'The draw') : null)) : null);
}

function stock(now) {
  const items = now.layers || now.products;
  return table('Stock', [now.layers ? 'Layer' : 'Product', 'Price', 'Free', 'Held', 'Sold', 'Total'], items.map((item) => [
    name(item.sku ? `${item.name} (${item.sku})` : String(item.layer)), figure(money(item.price, now.currency)),
    figure(item.free), figure(item.held), figure(item.sold), figure(item.total)]), ['No stock.', '']);
}

async function record(path) {
  const done = await all(`${path}/actions`);
  return el('section', { class: 'block' }, el('h2', {}, 'Operator actions'),
    table('Actions', ['When', 'What', 'Who', 'Why', 'Which'], done.map((one) => [
      time(one.at), one.action, identity(one.actor), prose(one.reason || '–'), one.subject ? identity(one.subject) : '–']),
    ['Nothing yet.', 'Publishing, pausing, releasing and refunding appear here, with who and why.']));
}

function trail(place, now, path) {
  const pools = (now.layers || now.products).map((item) => (item.sku ? [item.sku, item.name] : [String(item.layer), `Layer ${item.layer}`]));
  const pool = choice([['', 'All'], ...pools]);
  const list = paged({
    place,
    label: 'Stock changes',
    path: () => `${path}/audit${pool.value ? `?pool=${encodeURIComponent(pool.value)}` : ''}`,
    columns: ['When', 'Pool', 'No.', 'Cause', 'Held', 'Sold', 'Who', 'Hold'],
    row: (one) => [time(one.at), one.pool, figure(one.seq), one.cause, figure(`${one.heldBefore} → ${one.heldAfter}`),
      figure(`${one.soldBefore} → ${one.soldAfter}`), identity(one.actor), identity(one.hold)],
    empty: ['No stock has moved yet.', 'Every hold, sale, release and expiry appears here.'],
  });
  list.load();
  return el('section', { class: 'block' }, el('h2', {}, 'Audit trail'), filters([['Pool', pool]], list.load, null), list.root);
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
      text: 'Its stock is created and shuffled, and people can buy at once. It cannot become a draft again; you can pause or close it.',
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
      text: 'Nobody can take anything new, but buyers can still pay for what they hold. They see the reason. You can resume at any time.',
      reason: 'required',
      work: ({ reason }) => pause(reason),
      onDone: done('Paused.', async () => { await resume('Undone: pause'); await done('Resumed.')(); }),
    });
  }
  if (now.status === 'published' && now.paused) {
    add('Resume', {
      title: `Resume “${now.name}”?`,
      text: 'Selling resumes at once.',
      reason: 'optional',
      work: ({ reason }) => resume(reason ?? null),
      onDone: done('Resumed.', async () => { await pause(now.pauseReason); await done('Paused again.')(); }),
    });
  }
  if (['draft', 'published', 'soldOut'].includes(now.status)) {
    add('Close', {
      title: `Close “${now.name}” permanently?`,
      text: 'This cannot be undone. Nothing more is sold, but buyers can still pay for what they hold. To stop for a while, pause it instead.',
      danger: true,
      reason: 'required',
      work: ({ reason }) => post(`${path}/close`, { reason }),
      onDone: done('Closed.'),
    });
  }
  return made;
}
