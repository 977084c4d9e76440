// The draw of a triangle: the commitment, the result, and a check of both.

import { button, byId, el, field, notice, show } from '../shared/dom.js';
import { Problem, get } from '../shared/api.js';
import { explain, plural, position, time } from '../shared/words.js';
import { commitments } from './memory.js';
import { canVerify, verify } from './verify.js';

const id = location.pathname.split('/')[2];
const REFRESH_MS = 3_000;
const view = byId('draw');

async function begin() {
  try {
    const campaign = await get(`/v1/campaigns/${id}`);
    if (campaign.kind !== 'triangle') throw new Problem(404, 'not-found');
    commitments.note(id, campaign.seedCommitment);
    document.title = `Draw of ${campaign.name} · Lockstep`;
    draw(campaign, await get(`/v1/campaigns/${id}/draw`));
  } catch (problem) {
    show(view, el('h1', {}, 'No such draw'), notice('bad', ...explain(problem), el('a', { href: '/' }, 'All sales')));
  }
}

function draw(campaign, found) {
  const drawn = found.status === 'drawn';
  show(view,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: `/shop/${id}` }, 'The sale')),
    el('h1', {}, `The draw of ${campaign.name}`),
    el('p', { class: 'tagline' }, drawn ? `Drawn ${time(found.drawnAt)} from ${plural(found.entrants.length, 'position')}.`
      : 'The winners are drawn the moment the last position is sold.'),
    drawn ? winners(found) : prizes(found),
    drawn ? checking(found) : waiting(found),
    story(found));
  if (!drawn) setTimeout(() => { (document.hidden ? Promise.resolve() : begin()); }, REFRESH_MS);
}

function prizes(found) {
  if (!found.prizes.length) return notice('note', 'This triangle has no prizes.', 'Its draw only puts the positions in an order.');
  return el('section', { class: 'block' }, el('h2', {}, 'Prizes'),
    el('ul', { class: 'lines' }, found.prizes.map((prize) => el('li', {}, el('span', {}, prize.name), el('span', { class: 'price' }, `× ${prize.quantity}`)))));
}

function winners(found) {
  if (!found.winners.length) return notice('note', 'Nobody won: there were no prizes.', '');
  return el('section', { class: 'block' }, el('h2', {}, 'Winners'),
    el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Winners' },
      el('table', {}, el('thead', {}, el('tr', {}, ['Prize', 'Position', 'Purchase'].map((name) => el('th', { scope: 'col' }, name)))),
        el('tbody', {}, found.winners.map((winner) => el('tr', {}, el('td', { class: 'name' }, winner.prize),
          el('td', {}, position(winner.position)), el('td', { class: 'id' }, el('code', {}, winner.purchase))))))));
}

function waiting(found) {
  return el('section', { class: 'block' }, el('h2', {}, 'Note this down'),
    el('p', {}, 'The server has already chosen a secret. This is its fingerprint. The secret is published after the draw and must match it.'),
    found.commitment ? el('code', { class: 'secret' }, found.commitment) : notice('note', 'Not published yet.', 'The fingerprint appears when the sale opens.'));
}

function checking(found) {
  const seen = commitments.of(id);
  const input = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', pattern: '[0-9a-fA-F]{64}', value: seen || '' });
  const result = el('div', { 'aria-live': 'polite' });
  const check = button('Verify in this browser', { class: 'primary', id: 'verify' }, async () => {
    const noted = input.value.trim().toLowerCase();
    if (!canVerify) {
      show(result, notice('bad', 'This browser offers cryptography only to pages with TLS.',
        'Open the page over HTTPS or on the server’s own machine, or run ./lockstep verify-draw on the document below.'));
      return;
    }
    try {
      const verdict = await verify(found, noted || null);
      show(result, verdict.ok ? notice('good', 'Verified: the winners follow from the seed and the list.', 'Every step was computed here, in your browser.')
        : notice('bad', 'This draw does not verify.', 'Keep the document, and ask the seller to explain the step that fails.'), steps(verdict));
    } catch {
      show(result, notice('bad', 'This document cannot be read.', 'It is not a valid draw document. Keep it, and ask the seller.'));
    }
  });
  return el('section', { class: 'block stack' }, el('h2', {}, 'Check it yourself'),
    field('Fingerprint from before the draw (optional)', input,
      seen ? 'This browser saw it when it first opened the sale.' : 'If you noted one down, it is compared too.'),
    el('div', { class: 'row' }, check, el('a', { href: `/v1/campaigns/${id}/draw` }, 'The document, for other programs')),
    result);
}

function steps(verdict) {
  return el('ol', { class: 'steps' }, verdict.steps.map((step) => el('li', { class: step.holds ? 'well' : 'unwell' },
    el('span', {}, step.holds ? '✓ ' : '✗ ', el('span', { class: 'unseen' }, step.holds ? 'holds: ' : 'fails: '), step.name),
    el('code', { class: 'quiet long' }, step.detail))));
}

function story(found) {
  return el('section', { class: 'block' }, el('h2', {}, 'How it works'),
    el('ol', { class: 'story' },
      el('li', {}, 'Before the first sale the server chooses a random seed and publishes its SHA-256, the fingerprint.'),
      el('li', {}, 'When the last position is sold, the list of positions and purchases is frozen and hashed.'),
      el('li', {}, 'Each position gets a score: HMAC-SHA256 of the list’s hash and the position, with the seed as key. The lowest scores win.'),
      el('li', {}, 'The seed is published. It must match the fingerprint, so it cannot have been chosen after the sale.')),
    found.entrants.length ? el('details', { class: 'table' }, el('summary', {}, `All ${plural(found.entrants.length, 'entrant')}`),
      el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Entrants' }, el('table', {},
        el('thead', {}, el('tr', {}, ['Position', 'Purchase'].map((name) => el('th', { scope: 'col' }, name)))),
        el('tbody', {}, found.entrants.map((entrant) => el('tr', {}, el('td', {}, position(entrant.position)),
          el('td', { class: 'id' }, el('code', {}, entrant.purchase)))))))) : null);
}

begin();
