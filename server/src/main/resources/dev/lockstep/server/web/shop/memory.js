// What this browser remembers of a hold, so that a reload does not lose it: its id, and how far the server's clock is
// from ours. Nothing here is secret: a hold's id opens nothing without its buyer.

export function memory(campaign) {
  const name = `lockstep.hold.${campaign}`;
  let offsetMs = null;

  return {
    id() {
      const stored = JSON.parse(localStorage.getItem(name) || 'null');
      if (!stored) return null;
      offsetMs = stored.offsetMs;
      return stored.id;
    },

    /** For a hold just taken or extended: the server's "now" was its creation. */
    keep(hold) {
      offsetMs ??= Date.parse(hold.createdAt) - Date.now();
      localStorage.setItem(name, JSON.stringify({ id: hold.id, offsetMs }));
    },

    /** Milliseconds until it expires, by the server's clock. */
    left: (hold) => Date.parse(hold.expiresAt) - (Date.now() + offsetMs),

    forget: () => localStorage.removeItem(name),
  };
}

/** The fingerprints of seeds as this browser first saw them, to check a draw against. */
export const commitments = {
  of: (campaign) => localStorage.getItem(`lockstep.commitment.${campaign}`),

  note(campaign, commitment) {
    if (commitment && !this.of(campaign)) localStorage.setItem(`lockstep.commitment.${campaign}`, commitment);
  },
};
