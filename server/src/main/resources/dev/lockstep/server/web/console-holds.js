// Holds, by campaign, buyer and state; an operator may let one go.

import { el, show } from './dom.js';
import { all, remove } from './api.js';
import { money, time } from './words.js';
import { act, badge, choice, code, filters, head, name, paged, toast } from './console-parts.js';

export async function holds(place) {
  const campaigns = (await all('/v1/campaigns')).filter((one) => one.status !== 'draft').reverse();
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
    columns: ['Taken', 'State', 'Buyer', 'Items', 'Total', 'Expires', 'Hold', ''],
    row: (one) => [time(one.createdAt), badge(one.state), name(one.buyer), name(items(one)), money(one.total.amount, one.total.currency),
      time(one.expiresAt), el('td', { class: 'id' }, code(one.id)), one.state === 'held' ? release(one, () => list.load()) : ''],
    empty: ['No hold matches.', 'Choose another campaign, or leave buyer and state open.'],
  });
  show(place.body, head('Holds'), filters([['Campaign', campaign], ['Buyer', buyer], ['State', state]], list.load), list.root);
  if (campaigns.length) await list.load();
}

function items(hold) {
  return hold.items.map((item) => `${item.quantity} × ${item.sku || `layer ${item.layer}`}`).join(', ');
}

function release(hold, reload) {
  return el('button', {
    type: 'button', class: 'danger plain',
    onclick: () => act({
      title: 'Let this hold go?',
      text: `What ${hold.buyer} holds becomes free for others at once. This cannot be undone; the buyer can choose again.`,
      label: 'Release', danger: true, reason: 'required',
      work: ({ reason }) => remove(`/v1/holds/${hold.id}`, { reason }),
      onDone: async () => { await reload(); toast('Released.'); },
    }),
  }, 'Release');
}
