// What people read: amounts, times, and refusals with what to do next.

/** An amount in a currency's minor unit: 500 JPY is ¥500, 500 USD is $5.00, 500 KWD is KWD 0.500. */
export function money(amount, currency) {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits;
  return format.format(amount / 10 ** digits);
}

export function count(number) {
  return new Intl.NumberFormat('en').format(number);
}

export function time(text) {
  return text ? new Date(text).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' }) : '–';
}

/** How long ago, or until when, in the largest fitting unit. */
export function distance(text, now = Date.now()) {
  const seconds = Math.round((Date.parse(text) - now) / 1000);
  const size = Math.abs(seconds);
  const [unit, each] = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]].find(([, one]) => size >= one) || ['second', 1];
  return new Intl.RelativeTimeFormat('en', { numeric: 'always' }).format(Math.trunc(seconds / each), unit);
}

/** A span: seconds while they matter, then minutes, hours, days. */
export function seconds(number) {
  if (number === null) return '–';
  if (number < 120) return `${number.toFixed(number < 10 && !Number.isInteger(number) ? 1 : 0)} s`;
  const [unit, each] = [['days', 86_400], ['h', 3_600], ['min', 60]].find(([, one]) => number >= 2 * one);
  return `${count(Math.round(number / each))} ${unit}`;
}

/** Minutes and seconds left, 9:05. */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** In a triangle a row is a layer. */
export function position(at) {
  return `layer ${at.layer}, place ${at.column}`;
}

const STATUS = {
  draft: 'Not open yet',
  published: 'On sale',
  soldOut: 'Sold out',
  drawn: 'Drawn',
  closed: 'Closed',
};

/** A campaign's status in a word or two. */
export function state(campaign) {
  return campaign.paused && campaign.status === 'published' ? 'Paused' : STATUS[campaign.status] || campaign.status;
}

/** A refusal for a buyer: what happened, and what to do next. */
export function explain(problem) {
  const body = problem.body || {};
  const wait = body.retryAfterSeconds ? plural(body.retryAfterSeconds, 'second') : 'a moment';
  switch (problem.slug) {
    case 'sold-out':
      return soldOut(body);
    case 'limit-reached':
      return ['That is more than your limit.',
        `In this sale one buyer may have ${body.limit}; you have ${body.used}, held or bought.`
        + ' Take fewer, or release what you hold first.'];
    case 'campaign-paused':
      return ['The sale is paused.', `${body.reason || ''} You can still pay for what you hold.`
        + ' This page shows when the sale resumes; you need not reload it.'];
    case 'campaign-not-open':
      return ['This sale is not open.', body.campaignStatus === 'closed'
        ? 'It has ended. See the other sales.' : 'Come back when it is open.'];
    case 'payment-in-progress':
      return ['A payment is in progress.', 'It may have been started in another tab. Wait a moment, then reload the page.'];
    case 'hold-ended':
      if (body.state === 'returned') return ['This has been refunded.', 'Your money goes back to the card. Choose again.'];
      return body.state === 'sold' ? ['This has been paid already.', 'You find it under “Yours” below.']
        : ['Your time ran out, and your hold was released.', 'Choose again; nothing was charged.'];
    case 'hold-lifetime-reached':
    case 'extension-limit':
      return ['You cannot have more time.', 'Pay before the time runs out, or release it and choose again.'];
    case 'payment-failed':
      if (['refunding', 'refunded'].includes(body.purchaseStatus)) return explain({ slug: 'paid-too-late' });
      return ['The card was declined.',
        'Nothing was charged, and your hold was released. Choose again and pay with another card.'];
    case 'not-approved':
      return ['The payment was not approved.',
        'Nothing was charged, and your hold was released. Choose again, and approve it or use another card.'];
    case 'paid-too-late':
      return ['The payment came too late.', 'Somebody else has it by now. Your money goes back to the card automatically. Choose again.'];
    case 'overloaded':
    case 'unavailable':
    case 'not-ready':
    case 'shutting-down':
      return ['Too many people are buying now.', `Nothing was taken or charged. Try again in ${wait}.`];
    case 'rate-limited':
      return ['That was too fast.', `Wait ${wait}, then try again.`];
    case 'unauthorized':
    case 'forbidden':
      return ['The shop no longer knows you.', 'Reload the page to start again. What you bought stays yours.'];
    case 'not-found':
      return ['Not found.', 'It may be gone, or the address may be wrong. Go back to the list of sales.'];
    case 'unreachable':
    case 'timeout':
    case 'bad-gateway':
    case 'outcome-unknown':
    case 'idempotency-key-in-use':
      return ['The outcome is not known yet.',
        'Check your connection and press the button again: it is the same request, so nothing happens twice.'];
    default:
      return [body.title || 'Something went wrong.', `${body.detail || 'Try again.'}${reference(body)}`];
  }
}

function soldOut(body) {
  const shortages = body.shortages || [];
  const left = shortages.filter((one) => one.free > 0).map((one) => `${one.free} of ${one.sku || `layer ${one.layer}`}`);
  return left.length
    ? ['There are not that many left.', `Free now: ${left.join(', ')}. Nothing was taken; ask for fewer.`]
    : ['Somebody was faster: that is sold out.',
      'Nothing was taken. Choose something else; what others hold may come back when their time runs out.'];
}

function reference(body) {
  return body.requestId ? ` If this persists, tell us this reference: ${body.requestId}` : '';
}

/** A refusal for an operator, with the problem's own words. */
export function forOperator(problem) {
  if (problem.slug === 'unreachable' || problem.slug === 'timeout') {
    return ['The server did not answer.', 'Check that it is running, and whether the action took effect, before you repeat it.'];
  }
  if (problem.slug === 'unauthorized') {
    return ['This key is no longer accepted.', 'It is unknown, expired or revoked. Sign in with another one.'];
  }
  if (problem.slug === 'forbidden') return ['This key may not do that.', 'Sign in with a key of role operator.'];
  const body = problem.body || {};
  return [body.title || 'It did not work.', `${body.detail || ''}${reference(body)}`];
}
