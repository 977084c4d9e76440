// Purchases with search and refund, and the two lists that have to be empty.

import { el, notice, show } from './dom.js';
import { all, get, randomKey, post } from './api.js';
import { money, time } from './words.js';
import { act, badge, choice, code, filters, head, name, paged, table, toast } from './console-parts.js';

const STATUS = ['pending', 'requiresAction', 'completed', 'failed', 'expired', 'refunding', 'refunded'];

export async function purchases(place) {
  const campaigns = await all('/v1/campaigns');
  const campaign = choice([['', 'all'], ...campaigns.map((one) => [one.id, one.name])]);
  const buyer = el('input', { type: 'search', maxlength: 128, placeholder: 'anyone' });
  const status = choice([['', 'any'], ...STATUS.map((one) => [one, one])]);
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
    columns: ['When', 'Status', 'Buyer', 'Items', 'Total', 'Purchase', ''],
    row: (one) => [time(one.createdAt), badge(one.status), name(one.buyer || '–'), name(items(one)), money(one.total.amount, one.total.currency),
      el('td', { class: 'id' }, code(one.id)), one.status === 'completed' ? refund(one, () => list.load()) : ''],
    empty: ['No purchase matches.', 'Leave the fields open to see all.'],
  });
  show(place.body, head('Purchases'), filters([['Campaign', campaign], ['Buyer', buyer], ['Status', status]], list.load), list.root);
  await list.load();
}

function items(purchase) {
  return (purchase.items || []).map((item) => `${item.quantity} × ${item.sku || `layer ${item.layer}`}`).join(', ');
}

function refund(purchase, reload) {
  const key = randomKey();
  return el('button', {
    type: 'button', class: 'danger plain',
    onclick: () => act({
      title: `Refund ${money(purchase.total.amount, purchase.total.currency)}?`,
      text: 'The money goes back to the card, and the goods to the stock unless they have been drawn upon. This cannot be undone.',
      label: 'Refund', danger: true, reason: 'required',
      work: ({ reason }) => post(`/v1/purchases/${purchase.id}/refund`, { reason }, key),
      onDone: async () => { await reload(); toast('The refund has begun.'); },
    }),
  }, 'Refund');
}

export async function reconciliation(place) {
  const found = await get('/v1/reconciliation');
  const list = (title, rows, empty) => el('section', { class: 'block' }, el('h2', {}, `${title}: ${rows.length}`),
    rows.length ? table(title, Object.keys(rows[0]), rows.map((row) => Object.values(row).map(cell)), ['', '']) : notice('good', empty, ''));
  show(place.body, head('Reconciliation', el('button', { type: 'button', onclick: () => reconciliation(place).catch(place.failed) }, 'Look again')),
    el('p', { class: 'quiet' }, `Lists that have to be empty: paid but not handed over, handed over but not paid, and open for too long. Compared ${time(found.checkedAt)}.`),
    list('Money without goods', found.moneyWithoutGoods, 'Whoever paid has what was paid for.'),
    list('Goods without money', found.goodsWithoutMoney, 'Whatever was handed over has been paid.'),
    list('Unsettled', found.unsettled, 'No payment is open for longer than it should be.'));
}

function cell(value) {
  return el('td', {}, typeof value === 'object' && value !== null ? code(JSON.stringify(value)) : String(value ?? '–'));
}
