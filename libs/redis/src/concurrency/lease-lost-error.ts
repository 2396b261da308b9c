/** The reason with which `lease.signal` aborts: the permits were not renewed in time, and others may have them now. */
export class LeaseLostError extends Error {
  /** Always `LeaseLostError`. */
  override readonly name = 'LeaseLostError';
  /** Stable, whatever the message says. */
  readonly code = 'ERR_RL_LEASE_LOST';

  /** @param limiter - what the limiter is called. */
  constructor(limiter: string) {
    super(
      `The lease of ${limiter} was lost: it could not be renewed in time, and its permits may be others’ by now. ` +
        'Stop the work, or make it safe to be done twice.',
    );
  }
}
