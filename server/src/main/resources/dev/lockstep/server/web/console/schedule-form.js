// The fields of a new or edited schedule, with a preview of its runs.

import { button, el, field, notice, show } from '../shared/dom.js';
import { post } from '../shared/api.js';
import { forOperator } from '../shared/words.js';
import { choice } from './parts.js';
import { local } from './calendar.js';

const LOOK_AHEAD = 5;
const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
const input = (attributes) => el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', required: true, ...attributes });

function select(options, value) {
  const made = choice(options);
  made.value = value;
  return made;
}

export function scheduleForm(now) {
  const when = now?.when ?? {};
  const title = input({ maxlength: 200, value: now?.name ?? '', id: 'schedule-name' });
  const form = select([['cron', 'By cron expression'], ['yearly', 'Every year'], ['at', 'Once']], ['cron', 'yearly', 'at'].find((one) => one in when) ?? 'cron');
  const zone = zoneField(when.zone ?? here());
  const forms = { cron: cronFields(when), yearly: yearlyFields(when), at: atFields(when) };
  const own = el('div', { class: 'stack' });
  const inZone = el('div', { class: 'stack' }, zone.root, clockChanges(when));
  const way = select([['webhook', 'To a webhook'], ['mail', 'By mail']], now?.deliver.mail ? 'mail' : 'webhook');
  const ways = { webhook: webhookFields(now?.deliver), mail: mailFields(now?.deliver.mail) };
  const delivered = el('div', { class: 'stack' });
  const attempts = el('input', { type: 'number', min: 1, max: 1_000, step: 1, required: true, value: now?.maxAttempts ?? 10 });
  const catchUp = select([['latest', 'the latest missed run'], ['all', 'every missed run'], ['none', 'no missed run']], now?.catchUp ?? 'latest');
  const upcoming = el('div', { 'aria-live': 'polite' });

  /** Removes hidden fields, so that the browser does not require them. */
  function chosen() {
    show(own, forms[form.value].root, form.value === 'at' ? null : inZone);
    show(upcoming);
  }
  form.addEventListener('change', chosen);
  chosen();
  way.addEventListener('change', () => show(delivered, ways[way.value].root));
  show(delivered, ways[way.value].root);

  function rule() {
    if (form.value === 'at') return forms.at.value();
    const [gap, overlap] = inZone.querySelectorAll('select');
    return { ...forms[form.value].value(), zone: zone.value(), gap: gap.value, overlap: overlap.value };
  }

  async function look() {
    try {
      const found = await post('/v1/schedules/preview', { when: rule(), count: LOOK_AHEAD });
      const at = form.value === 'at' ? 'UTC' : zone.value();
      show(upcoming, found.items.length
        ? el('ol', { class: 'lines' }, found.items.map((one) => {
          const day = local(one, at);
          return el('li', {}, `${day.month}-${String(day.day).padStart(2, '0')} ${day.time} ${at}`);
        }))
        : notice('note', 'It will never run.', ''));
    } catch (problem) {
      show(upcoming, notice('bad', ...(problem.slug ? forOperator(problem) : ['That cannot be sent.', problem.message])));
    }
  }

  return {
    fields: [
      field('Name', title), field('Runs', form), own,
      el('div', {}, button('Show the next runs', { class: 'plain', id: 'look-ahead' }, look), upcoming),
      field('Delivers', way), delivered,
      el('div', { class: 'columns' }, field('Attempts', attempts), field('After downtime, run', catchUp)),
    ],
    value: () => ({
      name: title.value.trim(), when: rule(), deliver: ways[way.value].value(),
      maxAttempts: Number(attempts.value), catchUp: catchUp.value,
    }),
  };
}

function webhookFields(deliver) {
  const webhook = input({ type: 'url', maxlength: 2_000, value: deliver?.webhook ?? '' });
  const body = el('textarea', { rows: 4, spellcheck: 'false' });
  body.value = JSON.stringify(deliver?.body ?? {}, null, 2);
  return {
    root: el('div', { class: 'stack' },
      field('Address', webhook, 'Receives a signed POST with the body below. Private addresses need the server’s permission'),
      field('Body', body, 'JSON, an object')),
    value: () => ({ webhook: webhook.value.trim(), body: object(body.value) }),
  };
}

function mailFields(mail) {
  const to = input({ maxlength: 5_000, value: (mail?.to ?? []).join(', ') });
  const subject = input({ maxlength: 250, spellcheck: 'true', value: mail?.subject ?? '' });
  const text = el('textarea', { rows: 6 });
  text.value = mail?.text ?? '';
  return {
    root: el('div', { class: 'stack' },
      field('To', to, 'Addresses, separated by commas'), field('Subject', subject), field('Text', text)),
    value: () => ({
      mail: { to: to.value.split(',').map((one) => one.trim()).filter((one) => one), subject: subject.value.trim(), text: text.value },
    }),
  };
}

function object(text) {
  let read;
  try {
    read = JSON.parse(text || '{}');
  } catch {
    read = null;
  }
  if (read === null || typeof read !== 'object' || Array.isArray(read)) throw new Error('The body must be a JSON object, such as {"greeting": "hello"}.');
  return read;
}

function cronFields(when) {
  const cron = input({ maxlength: 200, value: when.cron ?? '0 9 * * *', id: 'schedule-cron' });
  return {
    root: field('Cron expression', cron, 'Minute, hour, day of the month, month, day of the week: 0 9 * * MON is Mondays at nine'),
    value: () => ({ cron: cron.value.trim() }),
  };
}

function yearlyFields(when) {
  const day = input({ value: when.yearly ?? '', pattern: '[01][0-9]-[0-3][0-9]', placeholder: '02-29', maxlength: 5 });
  const at = el('input', { type: 'time', required: true, value: when.time ?? '09:00' });
  const leapDay = select([['feb28', 'on 28 February'], ['mar1', 'on 1 March']], when.leapDay ?? 'feb28');
  return {
    root: el('div', { class: 'columns' }, field('Day', day, 'Month and day: 12-24'), field('Time', at), field('Without 29 February', leapDay)),
    value: () => ({ yearly: day.value.trim(), time: at.value, leapDay: leapDay.value }),
  };
}

function atFields(when) {
  const at = input({ value: when.at ?? new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000).toISOString().replace('.000', ''), placeholder: '2026-12-24T09:00:00Z' });
  return { root: field('Instant', at, 'In UTC, or with an offset: 2026-12-24T09:00:00+09:00'), value: () => ({ at: at.value.trim() }) };
}

function zoneField(value) {
  const zone = input({ value, list: 'zones', maxlength: 64 });
  const zones = el('datalist', { id: 'zones' }, (Intl.supportedValuesOf?.('timeZone') ?? []).map((one) => el('option', { value: one })));
  return { root: el('div', {}, field('Zone', zone, 'Such as Asia/Tokyo or Europe/Paris'), zones), value: () => zone.value.trim() };
}

function clockChanges(when) {
  return el('div', { class: 'columns' },
    field('If clocks skip it', select([['next', 'run right after'], ['skip', 'skip it']], when.gap ?? 'next')),
    field('If it occurs twice', select([['first', 'the first time'], ['last', 'the second time'], ['both', 'both times']], when.overlap ?? 'first')));
}
