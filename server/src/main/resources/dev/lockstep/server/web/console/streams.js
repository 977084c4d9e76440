// Streams: the lag of each sink, the relaying nodes, and stopped keys with their remedies.

import { button, el, field, notice, redraw, show } from '../shared/dom.js';
import { all, get, post } from '../shared/api.js';
import { count, forOperator, plural, seconds, time } from '../shared/words.js';
import { act, badge, code, every, figure, filters, head, identity, name, paged, prose, table, toast } from './parts.js';
import { plot } from './plot.js';

const EVERY_MS = 2_000;

export async function streams(place) {
  const lag = figures();
  const list = el('div', {});
  const relays = el('div', {});

  async function read() {
    const [found, owners] = await Promise.all([all('/v1/streams'), get('/v1/relays')]);
    lag.add(found.flatMap((one) => one.sinks));
    redraw(list, table('Streams', ['Stream', 'Sink', 'To', 'State', 'Lag', 'Parked', 'Delivered'], found.flatMap(rows),
      ['There are no streams yet.', 'Create one with PUT /v1/streams/{stream}; the API page shows how.']));
    redraw(relays, partitions(owners.partitions));
  }

  show(place.body, head('Streams'), lag.root, el('section', { class: 'block' }, el('h2', {}, 'Streams and sinks'), list),
    el('section', { class: 'block' }, el('h2', {}, 'Partitions and their nodes'), relays));
  await read();
  every(place, read, EVERY_MS);
}

function rows(stream) {
  const link = name(el('a', { href: `#/streams/${encodeURIComponent(stream.name)}`, id: `stream-${stream.name}` }, stream.name));
  if (!stream.sinks.length) return [[link, '–', '–', badge('no sinks'), '–', figure('–'), figure('–')]];
  return stream.sinks.map((sink, index) => [index ? '' : link, ...cells(sink)]);
}

function cells(sink) {
  return [name(sink.name), name(target(sink)), condition(sink), events(sink), figure(sink.parked), figure(sink.delivered)];
}

function target(sink) {
  return sink.topic ? `${sink.type}, topic ${sink.topic}` : sink.url || sink.type;
}

function condition(sink) {
  if (sink.down !== null) return badge('down', 'failed');
  if (sink.parked) return badge('keys parked', 'paused');
  return sink.lag.events ? badge('behind', 'held') : badge('up to date', 'completed');
}

function events(sink) {
  return sink.lag.events ? `${sink.lag.atLeast ? 'at least ' : ''}${plural(sink.lag.events, 'event')}, ${seconds(sink.lag.seconds)}` : 'none';
}

/** One row per node; nodes have about equal shares. */
function partitions(all) {
  const nodes = new Map();
  for (const one of all) {
    const node = one.node ?? '';
    nodes.set(node, [...(nodes.get(node) || []), one.partition]);
  }
  return table('Partitions', ['Node', 'Partitions', 'Which'], [...nodes].sort().map(([node, some]) => [
    name(node ? code(node) : 'none at the moment'), figure(some.length), prose(some.sort((a, b) => a - b).join(', '))]),
  ['No node relays.', 'Every running server should; check its log.']);
}

/** The sinks' lag, now and in the last minutes. */
function figures() {
  const behind = plot('Lag', 'events');
  const age = plot('Oldest unsent', seconds);
  const rate = plot('Delivered', 'per s');
  let before = null;
  return {
    root: el('div', { class: 'plots' }, behind.root, age.root, rate.root),
    add(sinks) {
      const now = { at: performance.now(), delivered: sinks.reduce((total, sink) => total + sink.delivered, 0) };
      behind.add(sinks.reduce((total, sink) => total + sink.lag.events, 0));
      age.add(Math.max(0, ...sinks.map((sink) => sink.lag.seconds)));
      if (before) rate.add(Math.max(0, now.delivered - before.delivered) / ((now.at - before.at) / 1000));
      before = now;
    },
  };
}

export async function stream(place, id) {
  const path = `/v1/streams/${encodeURIComponent(id)}`;
  const lag = figures();
  const sinks = el('div', {});
  const first = await get(path);
  const done = paged({
    place,
    label: 'Actions',
    path: () => `${path}/actions`,
    columns: ['When', 'What', 'Sink', 'Key', 'Event', 'Who', 'Why'],
    row: (one) => [time(one.at), one.action, name(one.sink || '–'), name(one.key || '–'), figure(one.seq === null ? '–' : one.seq),
      identity(one.actor), prose(one.reason)],
    empty: ['Nothing yet.', 'Retries, skips and replays appear here, with who and why.'],
  });
  const parked = first.sinks.map((sink) => parkedKeys(place, path, sink, done));

  function draw(now) {
    lag.add(now.sinks);
    redraw(sinks, now.sinks.filter((sink) => sink.down !== null).map((sink) => notice('bad', `${sink.name} is down: ${sink.down}`, 'The relay keeps retrying, and nothing is lost.')),
      table('Sinks', ['Sink', 'To', 'State', 'Lag', 'Parked', 'Delivered', ''],
        now.sinks.map((sink) => [...cells(sink), replay(path, sink, done)]),
        ['This stream has no sinks.', 'Its events are kept for a while but go nowhere.']));
  }

  show(place.body,
    el('nav', { class: 'crumbs', 'aria-label': 'Where you are' }, el('a', { href: '#/streams' }, 'All streams')),
    head(first.name), lag.root,
    el('section', { class: 'block' }, el('h2', {}, 'Sinks'), sinks),
    parked.map((one) => one.root),
    kept(place, path),
    el('section', { class: 'block' }, el('h2', {}, 'Operator actions'), done.root));
  draw(first);
  await Promise.all([done.load(), ...parked.map((one) => one.load())]);
  const held = (now) => JSON.stringify(now.sinks.map((sink) => [sink.parked, sink.waiting, sink.parkedKeys]));
  let seen = held(first);
  every(place, async () => {
    const now = await get(path);
    draw(now);
    if (held(now) !== seen) parked.forEach((one) => one.load());
    seen = held(now);
  }, EVERY_MS);
}

function parkedKeys(place, path, sink, done) {
  const sinkPath = `${path}/sinks/${encodeURIComponent(sink.name)}`;
  const own = `${sinkPath}/keys`;
  const event = el('div', { 'aria-live': 'polite' });
  const list = paged({
    place,
    label: `Stopped keys of ${sink.name}`,
    path: () => own,
    columns: ['Key', 'State', 'Event', 'Tried', 'Error', 'Since', ''],
    row: (one) => [name(one.key), badge(one.state, one.state === 'parked' ? 'paused' : 'held'), figure(one.seq), plural(one.attempts, 'time'),
      prose(one.error || '–'), time(one.parkedAt), el('span', { class: 'row' }, actions(one))],
    empty: [`No key is parked at ${sink.name}.`, 'A key whose event is refused appears here, while the others go on.'],
  });
  const reload = async (text) => {
    show(event);
    await Promise.all([list.load(), done.load()]);
    toast(text);
  };

  async function open(one) {
    try {
      const page = await get(`${path}/events?${new URLSearchParams({ key: one.key, afterSeq: one.seq - 1, limit: 1 })}`);
      const found = page.items.find((item) => item.seq === one.seq);
      show(event, found
        ? el('div', { class: 'panel block' }, el('h3', {}, `Event ${found.seq} of ${found.key}: ${found.type}`),
          el('pre', { tabindex: '0' }, JSON.stringify(found.data, null, 2)))
        : notice('note', 'This event is no longer kept.', 'Skip it to send the events after it.'));
    } catch (problem) {
      show(event, notice('bad', ...forOperator(problem)));
    }
  }

  function actions(one) {
    // In the body: a browser removes the keys "." and ".." from a path.
    return [
      button('Event', { id: `event-${sink.name}-${one.key}` }, () => open(one)),
      el('button', {
        type: 'button', id: `retry-${sink.name}-${one.key}`,
        onclick: () => act({
          title: `Try “${one.key}” again?`,
          text: `Event ${one.seq} is sent to ${sink.name} at once and, if it is accepted, the events after it.`,
          label: 'Retry', reason: 'required',
          work: ({ reason }) => post(`${sinkPath}/retry`, { key: one.key, reason }),
          onDone: () => reload('The event is being retried.'),
        }),
      }, 'Retry'),
      el('button', {
        type: 'button', class: 'danger', id: `skip-${sink.name}-${one.key}`,
        onclick: () => act({
          title: `Skip event ${one.seq} of “${one.key}”?`,
          text: `${sink.name} will not get it unless you replay it; the events after it follow at once.`,
          label: 'Skip', danger: true, reason: 'required',
          work: ({ reason }) => post(`${sinkPath}/skip`, { key: one.key, seq: one.seq, reason }),
          onDone: () => reload('Skipped.'),
        }),
      }, 'Skip'),
    ];
  }

  return { load: list.load, root: el('section', { class: 'block' }, el('h2', {}, `Stopped keys of ${sink.name}`), list.root, event) };
}

/** The events of a key that are still kept, in order. */
function kept(place, path) {
  const key = el('input', { type: 'search', maxlength: 400, required: true, id: 'events-of' });
  const list = paged({
    place,
    label: 'Events',
    path: () => `${path}/events?${new URLSearchParams({ key: key.value })}`,
    columns: ['No.', 'Type', 'When', 'Data'],
    row: (one) => [figure(one.seq), name(one.type), time(one.appendedAt), prose(code(JSON.stringify(one.data)))],
    empty: ['No event of this key is kept.', 'It had none, or every sink has passed them and they were removed.'],
    limit: 20,
  });
  show(list.root);
  return el('section', { class: 'block' }, el('h2', {}, 'Events of a key'), filters([['Key', key]], list.load, 'Show'), list.root);
}

function replay(path, sink, done) {
  return el('button', {
    type: 'button', id: `replay-${sink.name}`,
    onclick: () => {
      const from = el('input', { type: 'number', min: 1, value: 1, required: true, inputmode: 'numeric' });
      const key = el('input', { type: 'text', maxlength: 400, placeholder: 'every key' });
      act({
        title: `Replay to ${sink.name}?`,
        text: 'Kept events are sent again with the same sequence. Receivers that drop repeats notice nothing; others act twice.',
        label: 'Replay', danger: true, reason: 'required',
        extra: [field('From event', from, 'The first sequence to send, in each key.'), field('Key', key, 'Leave it empty to replay all keys.')],
        work: ({ reason }) => post(`${path}/sinks/${encodeURIComponent(sink.name)}/replay`, { fromSeq: Number(from.value), key: key.value || undefined, reason }),
        onDone: async () => { await done.load(); toast('The replay has started.'); },
      });
    },
  }, 'Replay');
}
