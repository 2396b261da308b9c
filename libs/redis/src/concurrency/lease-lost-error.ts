import diagnostics from 'node:diagnostics_channel';

/** The name of the `node:diagnostics_channel` that tells of lost leases: `{ limiter, partition }`. */
export const LEASE_LOST_CHANNEL = 'ratelease:lease-lost';

const lostChannel = diagnostics.channel(LEASE_LOST_CHANNEL);

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

/** Tells whoever listens that a lease was lost, and makes the reason for who held it. */
export function leaseLost(limiter: string, partition: string): LeaseLostError {
  if (lostChannel.hasSubscribers) lostChannel.publish({ limiter, partition });
  return new LeaseLostError(limiter);
}
