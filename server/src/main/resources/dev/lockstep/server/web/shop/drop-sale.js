// A drop's products: what is left of each, and the quantities to buy.

import { el, field, say, stockBar } from '../shared/dom.js';
import { money } from '../shared/words.js';

export function dropSale(campaign) {
  const most = Math.min(campaign.purchaseLimit || 99, 99);
  const products = campaign.products.map((product) => one(product, campaign.currency, most));
  const total = el('p', { class: 'total' });

  function items() {
    return products.filter((product) => product.quantity() > 0)
      .map((product) => ({ sku: product.sku, quantity: product.quantity() }));
  }

  function add() {
    const sum = products.reduce((amount, product) => amount + product.price * product.quantity(), 0);
    say(total, `Total ${money(sum, campaign.currency)}`);
  }

  products.forEach((product) => product.input.addEventListener('input', add));
  add();
  return {
    root: el('ul', { class: 'products' }, products.map((product) => product.root)),
    noun: 'cart',
    fields: () => [...products.map((product) => product.field), total],
    items,
    submitLabel: () => 'Hold my cart',

    /** Why the choice cannot be held yet, or nothing. */
    objection: () => (items().length ? null : ['Your cart is empty.', 'Set a quantity above zero first.']),

    update(now) {
      now.products.forEach((product, index) => products[index].update(product));
    },

    reset() {
      products.forEach((product) => { product.input.value = '0'; });
      add();
    },

    mark() {},
    positions() {},

    describe(item) {
      const known = products.find((product) => product.sku === item.sku);
      return `${item.quantity} × ${known ? known.name : item.sku}`;
    },
  };
}

function one(product, currency, most) {
  const bar = stockBar(product);
  const input = el('input', { type: 'number', min: 0, max: most, step: 1, value: 0, inputmode: 'numeric', id: `quantity-${product.sku}` });
  const choice = field(product.name, input);
  return {
    sku: product.sku,
    name: product.name,
    price: product.price,
    input,
    field: choice,
    quantity: () => Math.max(0, Math.min(most, Math.trunc(Number(input.value)) || 0)),
    root: el('li', { class: 'card' },
      el('div', { class: 'card-head' }, el('h2', {}, product.name), el('span', { class: 'price' }, money(product.price, currency))), bar),
    update(now) {
      const gone = now.total > 0 && now.sold === now.total;
      bar.update(now);
      say(choice.querySelector('label'), gone ? `${product.name}, sold out` : product.name);
      input.disabled = gone;
      if (gone && input.value !== '0') {
        input.value = '0';
        input.dispatchEvent(new Event('input'));
      }
    },
  };
}
