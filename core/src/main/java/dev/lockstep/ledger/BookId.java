package dev.lockstep.ledger;

/** Names a book: accounts among which money moves. No transfer leaves its book. */
public record BookId(long value) {}
