// Purchases: searched, found by id, and refunded with a reason.

import { el, notice, show } from '../shared/dom.js';
import { all, get, post, randomKey } from '../shared/api.js';
import { money, time } from '../shared/words.js';
import { act, badge, byIdentity, choice, code, fact, figure, filters, head, identity, name, paged, toast } from './parts.js';
import { itemTable, items } from './holds.js';

const WORDS = { requiresAction: 'waits for the bank', requiresPaymentMethod: 'waits for another card' };
const STATUS = ['pending', 'requiresAction', 'requiresPaymentMethod', 'completed', 'failed', 'expired', 'refunding', 'refunded'];

export async function purchases(place) {
  const campaigns = await all('/v1/campaigns');
  const campaign = choice([['', 'all'], ...campaigns.map((one) => [one.id, one.name])]);
  const buyer = el('input', { type: 'search', maxlength: 128, placeholder: 'anyone' });
  const status = choice([['', 'any'], ...STATUS.map((one) => [one, WORDS[one] ?? one])]);
  const list = paged({
    place,
    label: 'Purchases',
    path: () => {
      const query = new URLSearchParams();
      if (campaign.value) query.set('campaign', campaign.value);
      if (buyer.value.trim()) query.set('buyer', buyer.value.trim());
      if (status.value) query.set('status', status.value);
      return `/v1/purchases?${query}`;
    },
    columns: ['When', 'Status', 'Buyer', 'Items', 'Total', '', 'Purchase'],
    row: (one) => [time(one.createdAt), statusBadge(one), name(one.buyer || '–'), name(items(one)),
      figure(money(one.total.amount, one.total.currency)), one.status === 'completed' ? refund(one, () => list.load(), 'plain') : '',
      identity(el('a', { href: `#/purchases/${encodeURIComponent(one.id)}` }, code(one.id)))],
    empty: ['No purchase matches.', 'Leave the fields empty to see all.'],
  });
  show(place.body, head('Purchases', byIdentity('Purchase', 'purchases')), filters([['Campaign', campaign], ['Buyer', buyer], ['Status', status]], list.load), list.root);
  await list.load();
}

const statusBadge = (one) => badge(WORDS[one.status] ?? one.status, one.status);

export async function purchase(place, id) {
  const now = await get(`/v1/purchases/${encodeURIComponent(id)}`);
  const reload = () => purchase(place, id).catch((problem) => place.failed(problem));
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/purchases' }, 'All purchases')),
    head(`Purchase of ${now.buyer || 'a buyer'}`, statusBadge(now), now.status === 'completed' ? refund(now, reload, '') : null),
    now.failure ? notice('note', 'The purchase failed.', now.failure) : null,
    el('dl', { class: 'block' },
      fact('Total', money(now.total.amount, now.total.currency)),
      fact('Begun', time(now.createdAt)),
      fact('Payment', now.payment ? [code(now.payment.id), ` ${now.payment.status}`] : 'none yet'),
      fact('Hold', el('a', { href: `#/holds/${encodeURIComponent(now.hold)}` }, code(now.hold))),
      fact('Campaign', el('a', { href: `#/campaigns/${now.campaign}` }, now.campaign)),
      fact('Id', code(now.id))),
    el('section', { class: 'block' }, el('h2', {}, 'Items'), itemTable(now)));
}

function refund(purchase, reload, look) {
  const key = randomKey();
  return el('button', {
    type: 'button', class: `danger ${look}`, id: `refund-${purchase.id}`, 'aria-label': `Refund ${money(purchase.total.amount, purchase.total.currency)} to ${purchase.buyer || 'the buyer'}`,
    onclick: () => act({
      title: `Refund ${money(purchase.total.amount, purchase.total.currency)}?`,
      text: 'The money goes back to the card, and the goods go back to stock unless a draw rests on them. This cannot be undone.',
      label: 'Refund', danger: true, reason: 'required',
      work: ({ reason }) => post(`/v1/purchases/${purchase.id}/refund`, { reason }, key),
      onDone: async () => { await reload(); toast('The refund has started.'); },
    }),
  }, 'Refund');
}
