// Recomputes a draw from its published document alone, with the browser's own cryptography and without the server.

const ALGORITHM = 'lockstep-draw-1';
const HEX_32 = /^[0-9a-f]{64}$/;

/** Whether this browser can: it offers its cryptography only to secure origins and pages of this machine. */
export const canVerify = Boolean(globalThis.crypto?.subtle);

/**
 * Steps in the order of the description, each with its result and what was compared. Ends at the first that does
 * not hold, since later ones depend on it. `noted` is a commitment from before the sale, if there is one.
 */
export async function verify(draw, noted) {
  const steps = [];
  const step = (name, holds, detail) => {
    steps.push({ name, holds, detail });
    return holds;
  };
  const good = () => ({ ok: true, steps });
  const bad = () => ({ ok: false, steps });

  if (!step('The draw is done, with an algorithm this page knows', draw.status === 'drawn' && draw.algorithm === ALGORITHM,
    `${draw.status}, ${draw.algorithm}`)) return bad();
  if (!step('Seed, commitment and list hash are 32 bytes each',
    [draw.seed, draw.commitment, draw.entrantsHash].every((text) => HEX_32.test(text)) && (draw.beacon === null || HEX_32.test(draw.beacon)),
    draw.beacon === null ? 'no beacon' : 'with a beacon')) return bad();

  const seed = bytes(draw.seed);
  const commitment = hex(await sha256(seed));
  if (!step('The seed matches the commitment from before the sale', commitment === draw.commitment, commitment)) return bad();
  if (noted && !step('The commitment is the one that was noted down', noted === draw.commitment, noted)) return bad();

  const entrants = [...draw.entrants].sort((a, b) => a.position.layer - b.position.layer || a.position.column - b.position.column);
  const places = entrants.map(place);
  if (!step('No position is listed twice', new Set(places).size === places.length, `${places.length} positions`)) return bad();
  const listHash = await sha256(ascii(entrants.map((entrant) => `${place(entrant)},${entrant.purchase}\n`).join('')));
  if (!step('The list of entrants is the one that was frozen', hex(listHash) === draw.entrantsHash, hex(listHash))) return bad();

  const expected = award(draw.prizes, await ranked(seed, listHash, draw.beacon === null ? new Uint8Array() : bytes(draw.beacon), entrants));
  const difference = firstDifference(expected, draw.winners);
  if (!step('The winners are those with the lowest scores', difference === null,
    difference === null ? `${expected.length} winners recomputed` : `place ${difference + 1} differs`)) return bad();
  return good();
}

async function ranked(seed, listHash, beacon, entrants) {
  const key = await crypto.subtle.importKey('raw', seed, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const scored = await Promise.all(entrants.map(async (entrant, order) => ({
    entrant, order,
    score: hex(new Uint8Array(await crypto.subtle.sign('HMAC', key, joined(listHash, beacon, ascii(place(entrant)))))),
  })));
  scored.sort((a, b) => (a.score < b.score ? -1 : a.score > b.score ? 1 : a.order - b.order));
  return scored.map((one) => one.entrant);
}

function award(prizes, entrants) {
  const winners = [];
  for (const prize of prizes) {
    for (let given = 0; given < prize.quantity && winners.length < entrants.length; given++) {
      const entrant = entrants[winners.length];
      winners.push({ prize: prize.name, position: entrant.position, purchase: entrant.purchase });
    }
  }
  return winners;
}

function firstDifference(expected, published) {
  const text = (winner) => (winner ? `${winner.prize}\n${place(winner)}\n${winner.purchase}` : '');
  for (let i = 0; i < Math.max(expected.length, published.length); i++) {
    if (text(expected[i]) !== text(published[i])) return i;
  }
  return null;
}

function place({ position }) {
  return `${position.layer},${position.row},${position.column}`;
}

async function sha256(content) {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', content));
}

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function ascii(text) {
  return new TextEncoder().encode(text);
}

function bytes(text) {
  return Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
}

function hex(content) {
  return Array.from(content, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
