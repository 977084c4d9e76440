// Keys: created and shown once, revoked permanently.

import { el, field, show } from '../shared/dom.js';
import { post, remove } from '../shared/api.js';
import { time } from '../shared/words.js';
import { act, badge, choice, code, filters, head, name, paged, toast } from './parts.js';

export async function keys(place) {
  const role = choice([['', 'all'], ['operator', 'operator'], ['service', 'service'], ['buyer', 'buyer']]);
  const list = paged({
    place,
    label: 'Keys',
    path: () => (role.value ? `/v1/keys?role=${role.value}` : '/v1/keys'),
    columns: ['Name', 'Role', 'Starts with', 'Buyer', 'Created', 'Expires', 'State', ''],
    row: (one) => [name(one.name), one.role, code(`${one.prefix}…`), name(one.buyer || '–'), el('td', {}, time(one.createdAt), el('small', { class: 'below' }, `by ${one.createdBy}`)),
      one.expiresAt ? time(one.expiresAt) : 'never', stateOf(one), one.revokedAt ? '' : revoke(one, () => list.load())],
    empty: ['There are no keys yet.', 'The operator key of the configuration is not listed.'],
  });
  show(place.body,
    head('Keys', el('button', { type: 'button', class: 'primary', id: 'create', onclick: () => create(() => list.load()) }, 'New key')),
    filters([['Role', role]], list.load, null), list.root);
  await list.load();
}

function stateOf(key) {
  if (key.revokedAt) return name(badge('revoked', 'failed'), ` ${time(key.revokedAt)}${key.revokeReason ? `: ${key.revokeReason}` : ''}`);
  return key.expiresAt && Date.parse(key.expiresAt) < Date.now() ? badge('expired') : badge('active', 'completed');
}

function create(reload) {
  const role = choice([['buyer', 'buyer: itself only'], ['service', 'service: a shop’s backend, for any buyer'], ['operator', 'operator: everything']]);
  const title = el('input', { type: 'text', maxlength: 200, required: true, autocomplete: 'off', id: 'key-name' });
  const buyer = el('input', { type: 'text', maxlength: 128, required: true, autocomplete: 'off', id: 'key-buyer' });
  const days = el('input', { type: 'number', min: 1, max: 3650, placeholder: 'never' });
  const own = el('div', {}, field('Buyer', buyer, 'The buyer that the key acts for'));
  role.addEventListener('change', () => { own.hidden = role.value !== 'buyer'; buyer.required = role.value === 'buyer'; });
  act({
    title: 'New key',
    label: 'Create key',
    text: 'The key is shown once, here. Only its hash is kept. You can revoke it at any time.',
    extra: [field('Role', role), field('Name', title, 'What it is for, so that you recognise it'), own, field('Expires in days', days)],
    work: () => post('/v1/keys', {
      role: role.value,
      name: title.value.trim(),
      ...(role.value === 'buyer' ? { buyer: buyer.value.trim() } : {}),
      ...(days.value ? { expiresAt: new Date(Date.now() + Number(days.value) * 86_400_000).toISOString() } : {}),
    }),
    onDone: (made) => { reload(); reveal(made); },
  });
}

/** The only time that the key is visible. */
function reveal(made) {
  const secret = el('code', { class: 'secret', tabindex: '0', id: 'new-key' }, made.key);
  const dialog = el('dialog', { 'aria-labelledby': 'reveal-title' },
    el('div', { class: 'stack' },
      el('h2', { id: 'reveal-title' }, `The key “${made.name}”`),
      el('p', {}, 'Copy it now: it cannot be shown again.'),
      secret,
      el('div', { class: 'row' },
        el('button', { type: 'button', class: 'primary', onclick: () => dialog.close() }, 'I have copied it'),
        navigator.clipboard ? el('button', { type: 'button', onclick: (event) => navigator.clipboard.writeText(made.key).then(() => { event.target.textContent = 'Copied'; }) }, 'Copy') : null)));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function revoke(key, reload) {
  return el('button', {
    type: 'button', class: 'danger plain', id: `revoke-${key.id}`, 'aria-label': `Revoke ${key.name}`,
    onclick: () => act({
      title: `Revoke “${key.name}”?`,
      text: 'This node refuses it at once, other nodes within five seconds. This cannot be undone; you can make a new key.',
      label: 'Revoke', danger: true, reason: 'required',
      work: ({ reason }) => remove(`/v1/keys/${key.id}`, { reason }),
      onDone: async () => { await reload(); toast('Revoked.'); },
    }),
  }, 'Revoke');
}
