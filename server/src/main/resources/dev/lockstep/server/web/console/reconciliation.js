// Lists that should be empty: money and goods that do not match.

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
  show(place.body, head('Reconciliation', el('button', { type: 'button', class: 'plain', id: 'again', onclick: () => reconciliation(place).catch(place.failed) }, 'Refresh')),
    el('p', { class: 'quiet' }, `These lists should be empty. Recent changes are compared every minute, last ${time(found.checkedAt)}${found.sweep.lastAt ? `; last full pass ${time(found.sweep.lastAt)}` : ''}.`),
    list('Money without goods', found.moneyWithoutGoods, 'Every buyer who paid has the goods.'),
    list('Goods without money', found.goodsWithoutMoney, 'Everything that was sold has been paid for.'),
    list('Unsettled', found.unsettled, 'No payment has been open for too long.'),
    list('Books', found.books, 'The books of all campaigns agree with their purchases.'),
    list('Provider', found.provider, `The payment provider’s own lists agree${found.providerComparedUntil ? `, compared until ${time(found.providerComparedUntil)}` : ''}.`));
}
