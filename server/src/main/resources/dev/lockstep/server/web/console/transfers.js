// Transfers: made, looked at; a reserved one posted or given back.

import { el, field, show } from '../shared/dom.js';
import { get, Intention } from '../shared/api.js';
import { count, distance, forOperator, money, time } from '../shared/words.js';
import { act, badge, code, fact, head, toast } from './parts.js';

const BADGES = { pending: 'held', posted: 'completed' };

/** Currencies of one's own have no sign and no decimals. */
export function amount(number, currency) {
  try {
    return money(number, currency);
  } catch {
    return `${count(number)} ${currency}`;
  }
}

/** Asks whence, whither and how much; from a known account if one is given. Undone by a transfer back. */
export function transfer(reload, account) {
  const from = el('input', { type: 'text', required: true, autocomplete: 'off', id: 'transfer-from', value: account?.id ?? '' });
  const to = el('input', { type: 'text', required: true, autocomplete: 'off', id: 'transfer-to' });
  const units = el('input', { type: 'number', min: 1, required: true, id: 'transfer-amount' });
  const currency = el('input', { type: 'text', maxlength: 12, required: true, pattern: '[A-Z0-9]+', autocomplete: 'off', id: 'transfer-currency', value: account?.currency ?? '' });
  const intention = new Intention();
  const back = new Intention();
  act({
    title: 'Transfer',
    label: 'Move the money',
    text: 'It moves at once, and stays in both statements. Undoing it moves the same amount back.',
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
      title: 'Move what is reserved?',
      text: 'The amount below moves, and the rest is given back. To undo it, move it back.',
      extra: [field('Amount in the smallest unit', units, `At most ${count(now.amount)}`)],
      work: () => intention.send(`${path}/post`, { amount: Number(units.value) }),
      onDone: async () => { await reload(); toast('Posted.'); },
    }),
    make('Void', true, {
      title: 'Give back what is reserved?',
      text: 'Nothing moves, and it is available again at once. This cannot be undone; make a new transfer instead.',
      work: () => intention.send(`${path}/void`),
      onDone: async () => { await reload(); toast('Given back.'); },
    }),
  ];
}
