// A triangle's goods: the seat map, what just happened in it, and the same as a list of layers.

import { announce, el, field, say, show } from '../shared/dom.js';
import { money, plural, position } from '../shared/words.js';
import { triangle } from './triangle.js';

const RECENT = 4;
const EVERY_MS = 1_000;
const HAPPENED = { held: 'held', sold: 'sold', free: 'back on sale' };

export function triangleSale(campaign) {
  let layers = campaign.layers;
  const priceOf = (layer) => money(layer.price, campaign.currency);
  const select = el('select', { id: 'layer', onchange: () => choose(Number(select.value)) },
    layers.map((layer) => el('option', { value: layer.layer }, '')));
  let open = false;
  const feed = recent();
  const map = triangle(layers, priceOf, (layer) => {
    if (!open) return;
    choose(layer);
    select.focus({ preventScroll: true });
  }, feed.add);
  const rows = layers.map((layer) => el('tr', {}, el('th', { scope: 'row' }, String(layer.layer)),
    el('td', {}, priceOf(layer)), el('td', {}), el('td', {}), el('td', {})));
  const root = el('div', { class: 'map' },
    map.root, legend(layers, priceOf),
    el('details', { class: 'as-table' }, el('summary', {}, 'The layers as a table'),
      el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Layers' },
        el('table', {}, el('thead', {}, el('tr', {}, ...['Layer', 'Price', 'Free', 'Held', 'Sold'].map((name) => el('th', { scope: 'col' }, name)))),
          el('tbody', {}, rows)))),
    feed.root);
  const price = el('p', { class: 'offer-price' });
  const odds = el('p', { class: 'quiet' });

  function words(layer) {
    const left = layer.free ? `${layer.free} of ${layer.total} free` : layer.held ? 'all held, none free now' : 'sold out';
    return `Layer ${layer.layer} · ${priceOf(layer)} · ${left}`;
  }

  function offer() {
    const layer = layers[Number(select.value) - 1];
    if (!layer) return;
    say(price, priceOf(layer));
    say(odds, layer.free ? `${layer.free} of ${plural(layer.total, 'position')} free. Yours is one of them, by chance.`
      : layer.held ? 'All positions are held. One may come back when a hold ends.' : 'Every position of this layer is sold.');
  }

  function choose(layer) {
    select.value = String(layer);
    map.choose(layer);
    offer();
    announce(words(layers[layer - 1]));
  }

  return {
    root,
    noun: 'position',

    /** The form: which layer, and its price. */
    fields: () => [field('Layer', select, 'Layer 1 is the apex. You can also point at a row of the triangle.'), price, odds],

    /** The items to request. */
    items: () => [{ layer: Number(select.value), quantity: 1 }],

    submitLabel: () => 'Hold a position',

    update(now) {
      layers = now.layers;
      layers.forEach((layer, index) => {
        say(select.options[index], words(layer));
        [layer.free, layer.held, layer.sold].forEach((number, at) => say(rows[index].children[at + 2], String(number)));
      });
      map.guess(layers);
      if (!select.dataset.begun) {
        select.dataset.begun = 'yes';
        const first = layers.filter((layer) => layer.free).at(-1) || layers.at(-1);
        select.value = String(first.layer);
      }
      offer();
      // A layer is marked only where one can be chosen.
      open = now.status === 'published';
      root.classList.toggle('open', open);
      map.choose(open ? Number(select.value) : 0);
    },

    positions: (all) => map.update(all),
    mark: (positions) => map.mark(positions),

    describe(item) {
      const where = item.positions.map((at) => `place ${at.column}`).join('; ');
      return `Layer ${item.layer}: ${where || plural(item.quantity, 'position')}`;
    },
  };
}

/** What others did since the page was opened, newest first. Not announced: it changes all the time. */
function recent() {
  const list = el('ul', {});
  const root = el('section', { class: 'feed', hidden: true }, el('h2', {}, 'Just now'), list);
  let happened = [];

  function draw() {
    root.hidden = happened.length === 0;
    const now = performance.now();
    show(list, ...happened.map((one) => el('li', {},
      el('span', { class: one.state }, HAPPENED[one.state]), el('span', {}, position(one)),
      el('span', { class: 'faint' }, ago(now - one.at)))));
  }

  setInterval(() => { if (happened.length && !document.hidden) draw(); }, EVERY_MS);
  return {
    root,
    add(place) {
      happened = [{ ...place, at: performance.now() }, ...happened].slice(0, RECENT);
      draw();
    },
  };
}

function ago(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

function legend(layers, priceOf) {
  const sorted = [...layers].sort((a, b) => a.price - b.price);
  const entry = (state, name) => el('li', {}, el('span', { class: `seat ${state}`, 'aria-hidden': 'true' }), name);
  const ramp = sorted[0].price === sorted.at(-1).price ? entry('free p4', `free, ${priceOf(sorted[0])}`)
    : el('li', {}, priceOf(sorted[0]), el('span', { class: 'ramp', 'aria-hidden': 'true' },
      [1, 2, 3, 4, 5, 6, 7].map((step) => el('span', { class: `p${step}` }))), priceOf(sorted.at(-1)));
  return el('ul', { class: 'legend', 'aria-label': 'Legend' }, ramp,
    entry('held', 'held by someone'), entry('sold', 'sold'), entry('mine', 'yours'));
}
