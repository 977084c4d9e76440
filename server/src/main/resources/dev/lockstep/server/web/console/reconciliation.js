// The lists that have to be empty: money and goods that do not belong together.

import { el, notice, show } from '../shared/dom.js';
import { get } from '../shared/api.js';
import { money, time } from '../shared/words.js';
import { code, figure, head, identity, name, prose, table } from './parts.js';

export async function reconciliation(place) {
  const found = await get('/v1/reconciliation');
  const list = (title, rows, empty) => el('section', { class: 'block' }, el('h2', {}, `${title}: ${rows.length}`),
    rows.length ? table(title, ['Since', 'Kind', 'What is wrong', 'Buyer', 'Amount', 'Campaign', 'Purchase', 'Payment', 'Hold'], rows.map((one) => [
      time(one.since), one.kind, prose(one.detail), name(one.buyer || '–'), figure(one.currency ? money(one.amount, one.currency) : '–'),
      one.campaign === '0' ? '–' : el('a', { href: `#/campaigns/${one.campaign}` }, one.campaign), one.purchase ? identity(el('a', { href: `#/purchases/${encodeURIComponent(one.purchase)}` }, code(one.purchase))) : '–', identity(one.payment ?? '–'), identity(one.hold ?? '–')]), ['', ''])
      : notice('good', empty, ''));
  show(place.body, head('Reconciliation', el('button', { type: 'button', class: 'plain', id: 'again', onclick: () => reconciliation(place).catch(place.failed) }, 'Look again')),
    el('p', { class: 'quiet' }, `Lists that have to be empty. Compared every minute, last ${time(found.checkedAt)}${found.sweep.lastAt ? `; everything gone through ${time(found.sweep.lastAt)}` : ''}.`),
    list('Money without goods', found.moneyWithoutGoods, 'Whoever paid has what was paid for.'),
    list('Goods without money', found.goodsWithoutMoney, 'Whatever was handed over has been paid.'),
    list('Unsettled', found.unsettled, 'No payment is open for longer than it should be.'),
    list('Books', found.books, 'The books of all campaigns agree with their purchases.'),
    list('Provider', found.provider, `The payment provider’s own lists agree${found.providerComparedUntil ? `, compared until ${time(found.providerComparedUntil)}` : ''}.`));
}
