/**
 * The key under which a lease offers to be taken back as if it had never been granted, its rate permits too. A chain
 * uses it when a later member refuses.
 */
export const undoLease: unique symbol = Symbol.for('ratelease.undo-lease') as never;
