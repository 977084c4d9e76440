// One stream of counts per tab. A hidden tab closes its connection: browsers allow only a few per site.

const RETRY_MS = 3_000;

/**
 * Calls `onStock` with the counts now and after each change, and `onLink` with whether the server can be reached.
 * Returns a function that ends it.
 */
export function watchStock(campaign, onStock, onLink) {
  let source = null;
  let timer = null;
  let ended = false;

  function open() {
    close();
    if (ended || document.hidden) return;
    source = new EventSource(`/v1/campaigns/${encodeURIComponent(campaign)}/live`);
    source.addEventListener('open', () => onLink(true));
    source.addEventListener('stock', (event) => onStock(JSON.parse(event.data)));
    source.addEventListener('error', () => {
      onLink(false);
      // After a refusal, unlike after a broken connection, browsers do not reconnect.
      if (source && source.readyState === EventSource.CLOSED) timer = setTimeout(open, RETRY_MS * (1 + Math.random()));
    });
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  document.addEventListener('visibilitychange', open);
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', (event) => { if (event.persisted) open(); });
  open();
  return () => {
    ended = true;
    document.removeEventListener('visibilitychange', open);
    close();
  };
}

/** Runs `work` now, and again if requested meanwhile: never twice at a time, and at most once per interval. */
export function coalesced(work, everyMs) {
  let running = false;
  let wanted = false;
  return async function ask() {
    wanted = true;
    if (running) return;
    running = true;
    while (wanted) {
      wanted = false;
      try {
        await work();
      } catch {
        // The next change triggers another try.
      }
      await new Promise((resolve) => { setTimeout(resolve, everyMs); });
    }
    running = false;
  };
}
