// The form for a new campaign of either kind.

import { el, field } from '../shared/dom.js';
import { post } from '../shared/api.js';
import { act, choice } from './parts.js';

const number = (value, min, max, attributes = {}) => el('input', { type: 'number', value, min, max, step: 1, ...attributes });
const text = (attributes = {}) => el('input', { type: 'text', maxlength: 200, required: true, autocomplete: 'off', ...attributes });

export function newCampaign(onMade) {
  const kind = choice([['triangle', 'Triangle: layers of positions, and a draw'], ['drop', 'Drop: products with stock']]);
  const title = text({ id: 'new-name' });
  const currency = text({ value: 'JPY', minlength: 3, maxlength: 3, pattern: '[A-Z]{3}' });
  const limit = number('', 1, 10_000, { placeholder: 'none' });
  const seconds = number(900, 1, 86_400, { required: true });
  const extensions = number(1, 0, 100, { required: true });
  const triangle = triangleFields();
  const drop = dropFields();
  const own = el('div', { class: 'stack' }, triangle.root);
  kind.addEventListener('change', () => own.replaceChildren((kind.value === 'triangle' ? triangle : drop).root));

  act({
    title: 'New campaign',
    label: 'Create draft',
    text: 'It starts as a draft: nobody can buy from it until you publish it. What it sells cannot be changed later.',
    extra: [
      field('Kind', kind), field('Name', title),
      el('div', { class: 'columns' },
        field('Currency', currency, 'ISO 4217, such as JPY or USD'),
        field('Limit per buyer', limit), field('Held for, seconds', seconds),
        field('Extensions per buyer', extensions, 'Each adds the same time again')),
      own,
    ],
    work: () => post('/v1/campaigns', {
      kind: kind.value,
      name: title.value.trim(),
      currency: currency.value,
      purchaseLimit: limit.value ? Number(limit.value) : null,
      holdSeconds: Number(seconds.value),
      maxExtensions: Number(extensions.value),
      ...(kind.value === 'triangle' ? triangle : drop).value(),
    }),
    onDone: onMade,
  });
}

function triangleFields() {
  const base = number(10, 3, 50, { required: true });
  const price = number(500, 1, 99_999_999, { required: true });
  const prizes = el('textarea', { rows: 3 });
  prizes.value = '1 Grand prize';
  return {
    root: el('div', { class: 'stack' },
      el('div', { class: 'columns' }, field('Layers', base, '3 to 50'), field('Price of a position', price, 'In the smallest unit: 500 is ¥500, or $5.00')),
      field('Prizes', prizes, 'One per line: how many, then the name')),
    value: () => ({ baseLength: Number(base.value), price: Number(price.value), prizes: prizeLines(prizes.value) }),
  };
}

function prizeLines(written) {
  return written.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const match = /^(\d{1,4})\s+(.+)$/.exec(line);
    if (!match) throw new Error(`Write a prize as a number and a name, such as “1 Grand prize”; not “${line}”.`);
    return { quantity: Number(match[1]), name: match[2] };
  });
}

function dropFields() {
  const rows = el('div', { class: 'stack' });
  const products = [];
  const add = () => {
    const sku = text({ maxlength: 64, value: `ITEM-${products.length + 1}` });
    const title = text();
    const price = number(1_000, 1, 99_999_999, { required: true });
    const stock = number(100, 0, 1_000_000, { required: true });
    products.push(() => ({ sku: sku.value.trim(), name: title.value.trim(), price: Number(price.value), stock: Number(stock.value) }));
    rows.append(el('fieldset', {}, el('legend', {}, `Product ${products.length}`),
      el('div', { class: 'columns' }, field('Name', title), field('SKU', sku), field('Price', price), field('Stock', stock))));
  };
  add();
  return {
    root: el('div', { class: 'stack' }, rows, el('button', { type: 'button', class: 'plain', onclick: add }, 'Another product')),
    value: () => ({ products: products.map((product) => product()) }),
  };
}
