// The panel beside the goods. It is always in one of five states, each rendered by the function of that name:
// choosing, holding, confirming (3-D Secure), waiting (for the bank) and done.

import { announce, busy, button, el, notice, say, show } from '../shared/dom.js';
import { Intention, Problem, all, get, post, remove } from '../shared/api.js';
import { clock, explain, money, position } from '../shared/words.js';
import { keyForm, visitor } from './visitor.js';
import { memory } from './memory.js';

const CARDS = [
  ['pm_card_visa', 'Visa, pays at once'],
  ['pm_card_chargeDeclined', 'Visa, declined'],
  ['pm_card_authenticationRequired', 'Visa with 3-D Secure'],
];
const WARN_AT_SECONDS = [60, 15];
const POLL_MS = 1_500;

/** Why nothing can be bought, per status. */
const OVER = {
  soldOut: ['Sold out', 'Everything has been sold.'],
  drawn: ['Sold out', 'Everything has been sold.'],
  closed: ['Ended', 'This sale is closed.'],
};

/** The message for a purchase that ended while we waited for the bank. */
const ENDS = { failed: 'not-approved', expired: 'hold-ended', refunding: 'paid-too-late', refunded: 'paid-too-late' };

/** Runs the panel of a sale; `sale` knows what is sold, `yours` is where purchases are listed. */
export function checkout({ campaign: first, sale, panel, yours }) {
  let campaign = first;
  let hold = null;
  let ticking = null;
  let retrying = null; // the purchase whose card was declined
  let card = CARDS[0][0];
  const holdIntention = new Intention();
  const payIntention = new Intention();
  const kept = memory(campaign.id);
  const bought = [];

  // ------------------------------------------------------------ drawing

  /** Renders a state. `moved`: the person did something, so the heading gets the focus and is read out. */
  function draw(title, moved, ...content) {
    const heading = el('h2', { id: 'panel-title', tabindex: '-1' }, title);
    show(panel, heading, ...content);
    if (moved) heading.focus({ preventScroll: true });
  }

  function choosing(moved, message) {
    stopClock();
    hold = null;
    retrying = null;
    kept.forget();
    mark();
    if (!visitor.testCards) {
      draw('Buy', moved, elsewhere());
      return;
    }
    if (visitor.needsKey) {
      draw('Buy', false, keyForm(() => { choosing(true); loadYours(); }));
      return;
    }
    const answer = el('div', { id: 'answer' }, message);
    if (campaign.status in OVER) {
      const [title, text] = OVER[campaign.status];
      draw(title, moved, answer, el('p', { class: 'quiet' }, text), el('p', {}, el('a', { href: '/' }, 'Other sales')));
      return;
    }
    const submit = el('button', { id: 'hold', class: 'mine' }, sale.submitLabel());
    draw('Buy', moved, answer, el('form', {
      class: 'stack',
      onsubmit: (event) => { event.preventDefault(); busy(submit, () => take(answer)); },
    }, sale.fields(), submit));
  }

  function holding(moved, message) {
    const left = el('strong', { id: 'left', role: 'timer', 'aria-live': 'off' });
    const answer = el('div', { id: 'answer' }, message);
    const pay = el('button', { id: 'pay', class: 'mine' }, `Pay ${money(hold.total.amount, hold.total.currency)}`);
    draw('Held for you', moved,
      el('p', { class: 'countdown' }, 'Yours for ', left),
      lines(hold.items),
      answer,
      visitor.testCards ? el('form', {
        class: 'stack',
        onsubmit: (event) => { event.preventDefault(); busy(pay, () => payNow(answer)); },
      }, cards(), pay) : elsewhere(),
      el('p', { class: 'row' },
        retrying ? null : button('More time', { id: 'extend', class: 'plain' }, () => extend(answer)),
        button('Release', { id: 'release', class: 'plain' }, () => release(answer))));
    startClock(left);
  }

  /** The bank wants the buyer's approval. */
  function confirming(purchase) {
    stopClock();
    const answer = el('div', { id: 'answer' });
    draw('Your bank asks you to confirm', true,
      el('p', {}, 'This card uses 3-D Secure: the payment goes through when you approve it with your bank.',
        ' Until then your choice stays held.'),
      lines(purchase.items), answer, visitor.testBank ? bank(purchase, answer)
        : el('p', { class: 'quiet' }, 'Approve it in your bank’s app or page; this page then continues.'));
    awaitEnd(purchase.id);
  }

  /** The built-in gateway has no bank, so its cardholder answers here. */
  function bank(purchase, answer) {
    const say3ds = (approved) => async () => {
      try {
        await post(`/v1/purchases/${purchase.id}/authenticate`, { approved });
        show(answer, notice('note', approved ? 'Approved. Waiting for the bank …' : 'Refused. Waiting for the bank …', ''));
      } catch (problem) {
        refuse(answer, problem);
      }
    };
    return el('div', { class: 'row' }, button('Approve', { id: 'approve', class: 'primary' }, say3ds(true)),
      button('Refuse', { id: 'refuse' }, say3ds(false)));
  }

  function done(purchase) {
    stopClock();
    hold = null;
    retrying = null;
    kept.forget();
    sale.reset?.();
    bought.unshift(purchase);
    drawYours();
    mark();
    const where = (purchase.positions || []).map(position).join('; ');
    draw('It is yours', true,
      notice('good', where ? `Your position: ${where}.` : 'Your order is paid.',
        `Paid ${money(purchase.total.amount, purchase.total.currency)}. Purchase ${purchase.id}.`),
      lines(purchase.items),
      button('Buy more', { id: 'more', class: 'primary' }, () => choosing(true)));
  }

  function lines(items) {
    return el('ul', { class: 'lines' }, items.map((item) => el('li', {},
      el('span', {}, sale.describe(item)),
      item.price === undefined ? null : el('span', { class: 'price' }, money(item.price * item.quantity, campaign.currency)))));
  }

  function cards() {
    return el('fieldset', {}, el('legend', {}, 'Test card'), CARDS.map(([value, name]) => el('label', { class: 'choice' },
      el('input', { type: 'radio', name: 'card', value, checked: value === card, onchange: () => { card = value; } }), name)));
  }

  /** Real cards belong in the provider's own fields, which our pages do not have. */
  function elsewhere() {
    return notice('note', 'Payment is taken elsewhere.',
      'This page accepts only test cards, and this shop charges real ones. Buy in the shop’s own checkout: it creates a payment '
      + 'method with the payment provider and sends it to this server’s API.');
  }

  // ------------------------------------------------------------ doing

  async function take(answer) {
    const objection = sale.objection?.();
    if (objection) {
      show(answer, notice('bad', ...objection));
      return;
    }
    try {
      await visitor.ensure();
      keep(await holdIntention.send(`/v1/campaigns/${campaign.id}/holds`, { items: sale.items() }));
      holding(true);
    } catch (problem) {
      refuse(answer, problem);
    }
  }

  async function payNow(answer) {
    try {
      settle(await payIntention.send(retrying ? `/v1/purchases/${retrying.id}/pay` : `/v1/holds/${hold.id}/checkout`,
        { paymentMethod: card }));
    } catch (problem) {
      const left = problem.body?.purchase;
      if (problem.slug === 'payment-failed' && left?.status === 'requiresPaymentMethod') anotherCard(left);
      else if (['payment-failed', 'hold-ended', 'not-payable'].includes(problem.slug)) choosing(true, notice('bad', ...explain(problem)));
      else refuse(answer, problem);
    }
  }

  /** Shows a purchase's current state, from the answer or a later look. */
  function settle(purchase, refusal) {
    if (purchase.status === 'completed') done(purchase);
    else if (purchase.status === 'requiresAction') confirming(purchase);
    else if (purchase.status === 'pending') waiting(purchase);
    else if (purchase.status === 'requiresPaymentMethod') anotherCard(purchase, refusal);
    else choosing(true, notice('bad', ...explain(new Problem(402, ENDS[purchase.status] || 'payment-failed'))));
  }

  /** The card did not pay; the goods stay held for another one, until the purchase's time is up. */
  function anotherCard(purchase, refusal = 'The card was declined.') {
    retrying = purchase;
    hold = { ...hold, id: purchase.hold, items: purchase.items, total: purchase.total, createdAt: purchase.createdAt, expiresAt: purchase.expiresAt };
    kept.keep(hold);
    holding(true, notice('bad', refusal, 'Nothing was charged, and your choice stays held. Pay with another card.'));
  }

  function waiting(purchase) {
    stopClock();
    draw('Waiting for the bank', true, el('p', {}, 'The payment is being processed. You may leave this page open; it updates by itself.'), lines(purchase.items));
    awaitEnd(purchase.id);
  }

  /** Polls until the purchase has ended. */
  function awaitEnd(id) {
    stopClock();
    const asked = panel.firstChild;
    ticking = setInterval(async () => {
      if (panel.firstChild !== asked) return;
      try {
        const purchase = await get(`/v1/purchases/${id}`);
        if (!['requiresAction', 'pending'].includes(purchase.status) && panel.firstChild === asked) settle(purchase, 'The payment was not approved.');
      } catch {
        // Retried in a moment.
      }
    }, POLL_MS);
  }

  async function extend(answer) {
    try {
      keep({ ...await post(`/v1/holds/${hold.id}/extend`) });
      show(answer, notice('good', 'You have more time.', ''));
    } catch (problem) {
      refuse(answer, problem);
    }
  }

  async function release(answer) {
    try {
      await remove(retrying ? `/v1/purchases/${retrying.id}` : `/v1/holds/${hold.id}`);
      choosing(true, notice('note', 'Released.', 'Others can have it now.'));
    } catch (problem) {
      if (problem.slug === 'hold-ended') choosing(true, notice('note', ...explain(problem)));
      else refuse(answer, problem);
    }
  }

  function refuse(answer, problem) {
    if (problem.slug === 'unauthorized') visitor.buyer = null;
    show(answer, notice('bad', ...explain(problem)));
  }

  // ------------------------------------------------------------ the clock of a hold

  function keep(taken) {
    hold = taken;
    kept.keep(taken);
    mark();
  }

  function startClock(left) {
    stopClock();
    const warned = new Set();
    const tick = () => {
      const milliseconds = kept.left(hold);
      say(left, clock(milliseconds));
      left.classList.toggle('soon', milliseconds < 60_000);
      for (const seconds of WARN_AT_SECONDS) {
        if (milliseconds <= seconds * 1000 && milliseconds > (seconds - 5) * 1000 && !warned.has(seconds)) {
          warned.add(seconds);
          announce(`${seconds} seconds left to pay`);
        }
      }
      if (milliseconds <= 0) ranOut();
    };
    tick();
    ticking = setInterval(tick, 500);
  }

  function stopClock() {
    clearInterval(ticking);
  }

  /** Our clock is only an estimate; the server decides whether the hold has ended. */
  async function ranOut() {
    stopClock();
    const asked = hold;
    try {
      const now = await get(`/v1/holds/${asked.id}`);
      if (hold !== asked) return;
      if (now.state === 'held') {
        ticking = setTimeout(ranOut, POLL_MS);
      } else {
        choosing(true, notice('bad', ...explain(new Problem(409, 'hold-ended', { state: now.state }))));
      }
    } catch {
      ticking = setTimeout(ranOut, POLL_MS);
    }
  }

  // ------------------------------------------------------------ what is the visitor's

  function mark() {
    const positions = bought.flatMap((purchase) => purchase.positions || []);
    sale.mark([...positions, ...(hold ? hold.items.flatMap((item) => item.positions || []) : [])]);
  }

  async function loadYours() {
    if (!visitor.buyer) return;
    try {
      const found = await all(`/v1/purchases?campaign=${campaign.id}&status=completed&limit=100`);
      bought.splice(0, bought.length, ...found);
      drawYours();
      mark();
    } catch {
      // The list is optional; the sale works without it.
    }
  }

  function drawYours() {
    yours.hidden = bought.length === 0;
    show(yours, el('h2', { id: 'yours-title' }, 'Yours'),
      el('ul', { class: 'lines' }, bought.flatMap((purchase) => purchase.items.map((item) => el('li', {},
        el('span', {}, sale.describe(item)), el('span', { class: 'quiet' }, purchase.id))))));
  }

  /** A hold from before a reload. */
  async function recover(id) {
    if (!id || !visitor.buyer) return;
    try {
      const found = await get(`/v1/holds/${id}`);
      if (found.state === 'held' && !hold) {
        keep(found);
        const open = await all(`/v1/purchases?campaign=${campaign.id}&status=requiresPaymentMethod&limit=100`);
        const declined = open.find((purchase) => purchase.hold === id);
        if (declined) anotherCard(declined);
        else holding(false);
      }
    } catch {
      // Gone, or somebody else's by now: nothing to restore.
    }
  }

  const earlier = kept.id();
  choosing(false);
  recover(earlier);
  loadYours();

  return {
    update(now) {
      const reopened = campaign.status !== now.status;
      campaign = now;
      if (reopened && !hold && !panel.querySelector('#more')) choosing(false);
    },
  };
}

