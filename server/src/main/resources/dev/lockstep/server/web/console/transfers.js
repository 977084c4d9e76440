// Transfers: made and shown; a reserved one posted or released.

import { el, field, show } from '../shared/dom.js';
import { get, Intention } from '../shared/api.js';
import { count, distance, forOperator, money, time } from '../shared/words.js';
import { act, badge, code, fact, head, toast } from './parts.js';

const BADGES = { pending: 'held', posted: 'completed' };

/** Custom currencies have no sign and no decimals. */
export function amount(number, currency) {
  try {
    return money(number, currency);
  } catch {
    return `${count(number)} ${currency}`;
  }
}

/** Asks for accounts and amount; the source may be given. Undone by a transfer back. */
export function transfer(reload, account) {
  const from = el('input', { type: 'text', required: true, autocomplete: 'off', id: 'transfer-from', value: account?.id ?? '' });
  const to = el('input', { type: 'text', required: true, autocomplete: 'off', id: 'transfer-to' });
  const units = el('input', { type: 'number', min: 1, required: true, id: 'transfer-amount' });
  const currency = el('input', { type: 'text', maxlength: 12, required: true, pattern: '[A-Z0-9]+', autocomplete: 'off', id: 'transfer-currency', value: account?.currency ?? '' });
  const intention = new Intention();
  const back = new Intention();
  act({
    title: 'Transfer',
    label: 'Move money',
    text: 'The money moves at once, and both statements show it. Undo moves the same amount back.',
    extra: [field('From (id)', from), field('To (id)', to), field('Amount in the smallest unit', units, '500 is ¥500, or $5.00'), field('Currency', currency)],
    work: () => intention.send('/v1/transfers', {
      from: from.value.trim(), to: to.value.trim(), amount: Number(units.value), currency: currency.value.trim(),
    }),
    onDone: async (moved) => {
      await reload();
      toast('Moved.', async () => {
        try {
          await back.send('/v1/transfers', { from: moved.to, to: moved.from, amount: moved.amount, currency: moved.currency });
          await reload();
          toast('Moved back.');
        } catch (problem) {
          toast(forOperator(problem).join(' '), undefined, 'bad');
        }
      });
    },
  });
}

export async function transferPage(place, id) {
  const path = `/v1/transfers/${encodeURIComponent(id)}`;
  const reload = () => transferPage(place, id).catch((problem) => place.failed(problem));
  const now = await get(path);
  const account = (one) => el('a', { href: `#/accounts/${encodeURIComponent(one)}` }, code(one));
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/accounts' }, 'All accounts')),
    head(`Transfer of ${amount(now.amount, now.currency)}`, badge(now.state, BADGES[now.state] ?? now.state), ...actions(now, path, reload)),
    el('dl', { class: 'block' },
      fact('From', account(now.from)),
      fact('To', account(now.to)),
      fact('Moved', now.state === 'pending' ? 'nothing yet: it is reserved' : amount(now.posted, now.currency)),
      fact('Made', time(now.createdAt)),
      now.state === 'pending' && now.expiresAt ? fact('Expires', `${time(now.expiresAt)}, ${distance(now.expiresAt)}`) : null,
      now.endedAt ? fact('Ended', time(now.endedAt)) : null,
      fact('Id', code(now.id))));
}

function actions(now, path, reload) {
  if (now.state !== 'pending') return [];
  const intention = new Intention();
  const units = el('input', { type: 'number', min: 1, max: now.amount, required: true, value: now.amount });
  const make = (label, danger, options) => el('button', {
    type: 'button', class: danger ? 'danger' : null, id: `do-${label.toLowerCase()}`, onclick: () => act({ label, danger, ...options }),
  }, label);
  return [
    make('Post', false, {
      title: 'Post this transfer?',
      text: 'The amount below moves, and the rest is released. To undo it, transfer it back.',
      extra: [field('Amount in the smallest unit', units, `At most ${count(now.amount)}`)],
      work: () => intention.send(`${path}/post`, { amount: Number(units.value) }),
      onDone: async () => { await reload(); toast('Posted.'); },
    }),
    make('Void', true, {
      title: 'Void this transfer?',
      text: 'Nothing moves, and the amount is available again at once. This cannot be undone; you can make a new transfer.',
      work: () => intention.send(`${path}/void`),
      onDone: async () => { await reload(); toast('Voided.'); },
    }),
  ];
}
