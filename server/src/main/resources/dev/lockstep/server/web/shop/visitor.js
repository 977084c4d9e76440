// Who is buying. A server that allows visitors gives this browser a cookie that no script can read; where it
// does not, the person enters a buyer key, which stays in this tab.

import { busy, el, field, notice } from '../shared/dom.js';
import { get, post, useKey } from '../shared/api.js';
import { explain } from '../shared/words.js';

const KEY = 'lockstep.buyer-key';
useKey(() => sessionStorage.getItem(KEY));

export const visitor = {
  enabled: false,
  buyer: null,
  /** Whether payments go to the built-in gateway, where the cardholder approves on our page. */
  testBank: false,
  /** Whether payments are in test mode. Otherwise this page takes no payment. */
  testCards: true,

  async load() {
    try {
      take(await get('/v1/visitor'));
    } catch (problem) {
      if (problem.slug !== 'unauthorized') throw problem;
      // A stale key is worse than none.
      sessionStorage.removeItem(KEY);
      take(await get('/v1/visitor'));
    }
  },

  /** Whether buying needs a key first. */
  get needsKey() {
    return !this.enabled && !this.buyer;
  },

  /** Makes this browser a buyer, if it is not one yet. */
  async ensure() {
    if (!this.buyer) take(await post('/v1/visitor'));
  },
};

function take(answer) {
  visitor.enabled = answer.enabled;
  visitor.buyer = answer.buyer;
  visitor.testBank = answer.testBank;
  visitor.testCards = answer.testCards;
}

/** A form that asks for a buyer key. */
export function keyForm(onReady) {
  const input = el('input', { type: 'password', autocomplete: 'off', required: true, spellcheck: 'false' });
  const answer = el('div', {});
  const submit = el('button', { class: 'primary' }, 'Use this key');
  return el('form', {
    class: 'stack',
    onsubmit: (event) => {
      event.preventDefault();
      busy(submit, async () => {
        sessionStorage.setItem(KEY, input.value.trim());
        try {
          await visitor.load();
          if (visitor.buyer) onReady();
          else answer.replaceChildren(notice('bad', 'This is not a buyer key.', 'Ask the shop for a key of role buyer.'));
        } catch (problem) {
          answer.replaceChildren(notice('bad', ...explain(problem)));
        }
      });
    },
  },
  el('p', {}, 'This shop sells to known buyers. Enter your key; it stays in this tab until you close it.'),
  field('Buyer key', input), submit, answer);
}
