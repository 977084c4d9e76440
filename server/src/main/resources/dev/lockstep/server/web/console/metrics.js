// Reads Prometheus' text format, and computes the difference of two readings.

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;

/** A map from name to its samples, each with its labels and value. */
export function parse(text) {
  const found = new Map();
  for (const line of text.split('\n')) {
    const match = line.startsWith('#') ? null : LINE.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, label, value] of (match[2] || '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[label] = value;
    if (!found.has(match[1])) found.set(match[1], []);
    found.get(match[1]).push({ labels, value: Number(match[3]) });
  }
  return found;
}

/** The sum of a counter's samples; null when there is none. */
export function sum(metrics, name, only = () => true) {
  const samples = metrics.get(name);
  return samples ? samples.filter((sample) => only(sample.labels)).reduce((total, sample) => total + sample.value, 0) : null;
}

/** A quantile, in seconds, of a histogram's counts between two readings; null if there are none. */
export function quantile(before, after, name, share) {
  const old = buckets(before, name);
  const steps = [...buckets(after, name)].map(([edge, total]) => [edge, total - (old.get(edge) || 0)]).sort((a, b) => a[0] - b[0]);
  const all = steps.at(-1)?.[1] || 0;
  if (all <= 0) return null;
  let low = 0;
  let below = 0;
  for (const [edge, total] of steps) {
    if (total >= share * all) {
      if (edge === Infinity) return low;
      return low + ((edge - low) * (share * all - below)) / Math.max(1, total - below);
    }
    low = edge;
    below = total;
  }
  return low;
}

function buckets(metrics, name) {
  const sums = new Map();
  for (const { labels, value } of metrics.get(`${name}_bucket`) || []) {
    const edge = labels.le === '+Inf' ? Infinity : Number(labels.le);
    sums.set(edge, (sums.get(edge) || 0) + value);
  }
  return sums;
}
