// The ledger: accounts, their entries, and the trial balance, which is always zero.

import { el, field, notice, show } from '../shared/dom.js';
import { all, get, post } from '../shared/api.js';
import { time } from '../shared/words.js';
import { act, badge, choice, code, fact, figure, filters, head, identity, name, paged, table, toast } from './parts.js';
import { amount, transfer } from './transfers.js';

export async function accounts(place) {
  const campaigns = await all('/v1/campaigns');
  const book = choice([['', 'Accounts of no campaign'], ...campaigns.map((one) => [one.id, `Sales of ${one.name}`])]);
  const query = () => (book.value ? `?campaign=${book.value}` : '');
  const balance = el('div', {});
  const list = paged({
    place,
    label: 'Accounts',
    path: () => `/v1/accounts${query()}`,
    columns: ['Account', 'Balance', 'Reserved', 'Available', 'Floor', 'Entries', 'Id'],
    row: (one) => [name(el('a', { href: `#/accounts/${one.id}` }, one.name)), figure(amount(one.balance, one.currency)),
      figure(amount(one.pending, one.currency)), figure(one.available === null ? 'any' : amount(one.available, one.currency)),
      figure(one.floor === null ? 'none' : amount(one.floor, one.currency)), figure(one.version), identity(one.id)],
    empty: ['This book has no accounts.', 'Open one with “New account”; a campaign’s book opens with its first sale.'],
  });
  const load = async () => {
    await list.load();
    show(balance, trialBalance((await get(`/v1/trial-balance${query()}`)).items));
  };
  show(place.body,
    head('Accounts',
      el('button', { type: 'button', id: 'transfer', onclick: () => transfer(load) }, 'Transfer'),
      el('button', { type: 'button', class: 'primary', id: 'create', onclick: () => create(book.value, load) }, 'New account')),
    filters([['Book', book]], () => load().catch(place.failed), null),
    el('section', { class: 'block' }, el('h2', {}, 'Trial balance'), balance),
    el('section', { class: 'block' }, el('h2', {}, 'All accounts'), list.root));
  await load();
}

function trialBalance(items) {
  const off = items.filter((one) => one.difference !== '0');
  return el('div', {},
    off.length ? notice('bad', 'The books do not balance.', 'Money was created or lost. Check the invariants, and find out what else wrote to the tables.')
      : notice('good', 'The books balance.', 'In each currency, credits and debts add up to zero.'),
    items.length ? table('Trial balance', ['Currency', 'Accounts', 'Credit', 'Debt', 'Difference'], items.map((one) => [
      one.currency, figure(one.accounts), figure(amount(one.credit, one.currency)), figure(amount(one.debit, one.currency)),
      el('td', { class: 'figure' }, badge(amount(one.difference, one.currency), one.difference === '0' ? 'completed' : 'failed'))]), ['', '']) : null);
}

export async function account(place, id) {
  const path = `/v1/accounts/${encodeURIComponent(id)}`;
  const reload = () => account(place, id).catch((problem) => place.failed(problem));
  const now = await get(path);
  const list = paged({
    place,
    label: 'Entries',
    path: () => `${path}/entries`,
    columns: ['No.', 'When', 'What', 'Amount', 'Balance', 'Reserved', 'Transfer'],
    row: (one) => [figure(one.version), time(one.at), one.kind, figure(amount(one.amount, now.currency)), figure(amount(one.balance, now.currency)),
      figure(amount(one.pending, now.currency)), identity(el('a', { href: `#/transfers/${encodeURIComponent(one.transfer)}` }, code(one.transfer)))],
    empty: ['This account has no entries yet.', 'Every transfer in or out, reserved or released, appears here.'],
  });
  const to = el('input', { type: 'datetime-local', step: 1 });
  const then = el('div', { 'aria-live': 'polite' });
  // The opening balance of a statement from that time on.
  const balanceAt = async () => {
    const from = new Date(to.value || Date.now()).toISOString();
    const { opening } = await get(`${path}/statement?limit=1&from=${encodeURIComponent(from)}`);
    show(then, el('p', {}, `The balance was ${amount(opening, now.currency)}.`));
  };
  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/accounts' }, 'All accounts')),
    head(now.name, el('button', { type: 'button', id: 'transfer', onclick: () => transfer(reload, now) }, 'Transfer from it')),
    el('dl', { class: 'block' },
      fact('Balance', amount(now.balance, now.currency)),
      fact('Reserved', amount(now.pending, now.currency)),
      fact('Available', now.available === null ? 'any amount' : amount(now.available, now.currency)),
      fact('Floor', now.floor === null ? 'none' : amount(now.floor, now.currency)),
      fact('Id', code(now.id))),
    el('section', { class: 'block' }, el('h2', {}, 'Balance at a time'), filters([['At (your time)', to]], () => balanceAt().catch(place.failed), 'Show'), then),
    el('section', { class: 'block' }, el('h2', {}, 'Statement'), list.root));
  await list.load();
}

function create(campaign, reload) {
  const title = el('input', { type: 'text', maxlength: 200, required: true, autocomplete: 'off', id: 'account-name' });
  const currency = el('input', { type: 'text', maxlength: 12, required: true, pattern: '[A-Z0-9]+', autocomplete: 'off', id: 'account-currency' });
  const floor = choice([['0', 'never below zero'], ['', 'no floor']]);
  act({
    title: 'New account',
    label: 'Open account',
    text: 'Its balance starts at zero.',
    extra: [field('Name', title), field('Currency', currency, 'Such as JPY'), field('Floor', floor)],
    work: () => post('/v1/accounts', {
      name: title.value.trim(), currency: currency.value.trim(), floor: floor.value === '' ? null : 0, ...(campaign ? { campaign } : {}),
    }),
    onDone: async () => { await reload(); toast('Opened.'); },
  });
}
