// Holds, by campaign, buyer and state, or one by its id; an operator may release one.

import { el, notice, show } from '../shared/dom.js';
import { all, get, remove } from '../shared/api.js';
import { distance, money, position, time } from '../shared/words.js';
import { act, badge, byIdentity, choice, code, fact, figure, filters, head, identity, name, paged, table, toast } from './parts.js';

export async function holds(place) {
  const campaigns = (await all('/v1/campaigns')).filter((one) => one.status !== 'draft').reverse();
  if (!campaigns.length) {
    show(place.body, head('Holds'), notice('note', 'There are no sales yet.', 'Publish a campaign first; its buyers’ holds appear here.', el('a', { href: '#/campaigns' }, 'Campaigns')));
    return;
  }
  const campaign = choice(campaigns.map((one) => [one.id, one.name]));
  const buyer = el('input', { type: 'search', maxlength: 128, placeholder: 'anyone' });
  const state = choice([['', 'any'], ['held', 'held'], ['sold', 'sold'], ['released', 'released'], ['expired', 'expired'], ['returned', 'returned']]);
  const list = paged({
    place,
    label: 'Holds',
    path: () => {
      const query = new URLSearchParams({ campaign: campaign.value });
      if (buyer.value.trim()) query.set('buyer', buyer.value.trim());
      if (state.value) query.set('state', state.value);
      return `/v1/holds?${query}`;
    },
    columns: ['Taken', 'State', 'Buyer', 'Items', 'Total', 'Expires', '', 'Hold'],
    row: (one) => [time(one.createdAt), badge(one.state), name(one.buyer), name(items(one)), figure(money(one.total.amount, one.total.currency)),
      one.state === 'held' ? distance(one.expiresAt) : '–', one.state === 'held' ? release(one, () => list.load(), 'plain') : '',
      identity(el('a', { href: `#/holds/${encodeURIComponent(one.id)}` }, code(one.id)))],
    empty: ['No hold matches.', 'Choose another campaign, or leave buyer and state empty.'],
  });
  show(place.body, head('Holds', byIdentity('Hold', 'holds')), filters([['Campaign', campaign], ['Buyer', buyer], ['State', state]], list.load), list.root);
  await list.load();
}

export function items(order) {
  return (order.items || []).map((item) => `${item.quantity} × ${item.sku || `layer ${item.layer}`}`).join(', ');
}

/** The items of a cart or order, with prices and, in a triangle, positions. */
export function itemTable(order) {
  return table('Items', ['What', 'Quantity', 'Price of each', 'Positions'], order.items.map((item) => [
    name(item.sku || `layer ${item.layer}`), figure(item.quantity), figure(item.price === undefined ? '–' : money(item.price, order.total.currency)),
    name((item.positions || []).map(position).join('; ') || '–')]), ['It is empty.', '']);
}

export async function hold(place, id) {
  const now = await get(`/v1/holds/${encodeURIComponent(id)}`);
  const reload = () => hold(place, id).catch((problem) => place.failed(problem));
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/holds' }, 'All holds')),
    head(`Hold of ${now.buyer}`, badge(now.state), now.state === 'held' ? release(now, reload, '') : null),
    el('dl', { class: 'block' },
      fact('Total', money(now.total.amount, now.total.currency)),
      fact('Taken', time(now.createdAt)),
      now.state === 'held' ? fact('Expires', `${time(now.expiresAt)}, ${distance(now.expiresAt)}`) : null,
      now.endedAt ? fact('Ended', time(now.endedAt)) : null,
      fact('Campaign', el('a', { href: `#/campaigns/${now.campaign}` }, now.campaign)),
      fact('Id', code(now.id))),
    el('section', { class: 'block' }, el('h2', {}, 'Items'), itemTable(now)));
}

function release(held, reload, look) {
  return el('button', {
    type: 'button', class: `danger ${look}`, id: `release-${held.id}`, 'aria-label': `Release what ${held.buyer} holds`,
    onclick: () => act({
      title: 'Release this hold?',
      text: `Others can take what ${held.buyer} holds at once. This cannot be undone; the buyer can choose again.`,
      label: 'Release', danger: true, reason: 'required',
      work: ({ reason }) => remove(`/v1/holds/${held.id}`, { reason }),
      onDone: async () => { await reload(); toast('Released.'); },
    }),
  }, 'Release');
}
