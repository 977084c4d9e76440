// A triangle's goods: the drawing, and the same as a list of layers.

import { announce, el, field, say } from '../shared/dom.js';
import { money, plural } from '../shared/words.js';
import { triangle } from './triangle.js';

export function triangleSale(campaign) {
  const base = campaign.layers.length;
  let layers = campaign.layers;
  const select = el('select', { id: 'layer', onchange: () => choose(Number(select.value)) },
    layers.map((layer) => el('option', { value: layer.layer }, '')));
  let open = false;
  const drawing = triangle(base, (layer) => {
    if (!open) return;
    choose(layer);
    select.focus({ preventScroll: true });
  });
  const rows = layers.map((layer) => el('tr', {}, el('th', { scope: 'row' }, String(layer.layer)),
    el('td', {}, money(layer.price, campaign.currency)), el('td', {}), el('td', {}), el('td', {})));
  const root = el('div', {},
    el('figure', {}, drawing.root, legend()),
    el('details', { class: 'table' }, el('summary', {}, 'The layers as a table'),
      el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Layers' },
        el('table', {}, el('thead', {}, el('tr', {}, ...['Layer', 'Price', 'Free', 'Held', 'Sold'].map((name) => el('th', { scope: 'col' }, name)))),
          el('tbody', {}, rows)))));

  function words(layer) {
    const left = layer.free ? `${layer.free} of ${layer.total} free` : layer.held ? 'all held, none free now' : 'sold out';
    return `Layer ${layer.layer} · ${money(layer.price, campaign.currency)} · ${left}`;
  }

  function choose(layer) {
    select.value = String(layer);
    drawing.choose(layer);
    announce(words(layers[layer - 1]));
  }

  return {
    root,
    noun: 'position',

    /** The form's part: which layer. */
    fields: () => [field('Layer', select, 'Layer 1 is the apex. You can also point at a row of the triangle.')],

    /** The items to request. */
    items: () => [{ layer: Number(select.value), quantity: 1 }],

    submitLabel: () => 'Hold a position',

    update(now) {
      layers = now.layers;
      layers.forEach((layer, index) => {
        say(select.options[index], words(layer));
        [layer.free, layer.held, layer.sold].forEach((number, at) => say(rows[index].children[at + 2], String(number)));
      });
      drawing.guess(layers);
      if (!select.dataset.begun) {
        select.dataset.begun = 'yes';
        const first = layers.filter((layer) => layer.free).at(-1) || layers.at(-1);
        select.value = String(first.layer);
      }
      // A layer is marked only where one can be chosen.
      open = now.status === 'published';
      root.classList.toggle('open', open);
      drawing.choose(open ? Number(select.value) : 0);
    },

    positions: (all) => drawing.update(all),
    mark: (positions) => drawing.mark(positions),

    describe(item) {
      const where = item.positions.map((at) => `place ${at.column}`).join('; ');
      return `Layer ${item.layer}: ${where || plural(item.quantity, 'position')}`;
    },
  };
}

function legend() {
  const entry = (state, name) => el('li', {}, el('span', { class: `key ${state}`, 'aria-hidden': 'true' }), name);
  return el('figcaption', {}, el('ul', { class: 'legend', 'aria-label': 'Legend' },
    entry('free', 'free'), entry('held', 'held'), entry('sold', 'sold'), entry('mine', 'yours')));
}
