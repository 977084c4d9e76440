// Calls of the HTTP API. Every refusal, even a missing answer, arrives as a Problem.

const TIMEOUT_MS = 30_000;
const MAX_TRIES = 3;
const MAX_WAIT_MS = 2_000;
let currentKey = () => null;

/** Sets the key of all further requests. Without one, the visitor's cookie authenticates; no script can read it. */
export function useKey(source) {
  currentKey = source;
}

export class Problem extends Error {
  constructor(status, slug, body = {}) {
    super(body.detail || slug);
    this.status = status;
    this.slug = slug;
    this.body = body;
  }

  /** Whether the request may have had an effect that was not reported. */
  get unclear() {
    return ['unreachable', 'timeout', 'outcome-unknown', 'idempotency-key-in-use', 'bad-gateway'].includes(this.slug);
  }

  /** When to retry under the same key; null leaves it to a person, as after a long wait. */
  waitMs(tries) {
    if (this.slug === 'timeout' || !(this.unclear || this.status === 503)) return null;
    const seconds = this.body.retryAfterSeconds;
    const wait = seconds === undefined ? 500 * tries : 1_000 * seconds;
    return wait <= MAX_WAIT_MS ? wait : null;
  }
}

export const get = (path) => call('GET', path);
/** With a key, repeats the request a few times while its outcome is open: it takes effect once, however often it is sent. */
export async function post(path, body, idempotencyKey) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call('POST', path, body, idempotencyKey);
    } catch (problem) {
      const wait = idempotencyKey && tries < MAX_TRIES ? problem.waitMs(tries) : null;
      if (wait === null) throw problem;
      await new Promise((resolve) => { setTimeout(resolve, wait); });
    }
  }
}
export const put = (path, body) => call('PUT', path, body);
export const remove = (path, body, version) => call('DELETE', path, body, undefined, version);
/** Changes it only if it still has this version. */
export const patch = (path, body, version) => call('PATCH', path, body, undefined, version);

/** For content other than JSON. */
export async function text(path) {
  const key = currentKey();
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const response = await fetch(path, { headers, credentials: 'same-origin', cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Problem(response.status, slugOf(response, undefined));
  return response.text();
}

async function call(method, path, body, idempotencyKey, version) {
  const headers = { Accept: 'application/json' };
  const key = currentKey();
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey;
  if (version !== undefined) headers['If-Match'] = `"${version}"`;
  let response;
  let answer;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    answer = await response.text();
  } catch (error) {
    throw new Problem(0, error.name === 'TimeoutError' ? 'timeout' : 'unreachable');
  }
  const json = parsed(answer);
  if (response.ok && json !== undefined) return json;
  throw new Problem(response.status, slugOf(response, json), json);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function slugOf(response, json) {
  if (typeof json?.type === 'string') return json.type.slice(json.type.lastIndexOf('/') + 1);
  return response.status >= 502 ? 'bad-gateway' : 'internal';
}

/** All pages of a list, up to a number of items. */
export async function all(path, atMost = 1_000) {
  const items = [];
  let next = null;
  do {
    const url = new URL(path, location.origin);
    if (next) url.searchParams.set('after', next);
    const page = await get(url.pathname + url.search);
    items.push(...page.items);
    next = page.next;
  } while (next && items.length < atMost);
  return items;
}

/**
 * One intention of a person. While its outcome is unclear it is repeated under the same key, so that it happens
 * once, however often the button is pressed. A clear answer, good or bad, ends it.
 */
export class Intention {
  #key = null;
  #body = null;

  async send(path, body) {
    const text = `${path} ${JSON.stringify(body)}`;
    if (!this.#key || this.#body !== text) {
      this.#key = randomKey();
      this.#body = text;
    }
    try {
      const answer = await post(path, body, this.#key);
      this.#key = null;
      return answer;
    } catch (problem) {
      if (!problem.unclear && problem.status !== 429 && problem.status !== 503) this.#key = null;
      throw problem;
    }
  }
}

/** Not randomUUID, which browsers offer only on secure origins. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
