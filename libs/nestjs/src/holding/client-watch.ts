import type { Holder } from './holder.js';

/** Tells holders that their client has left. */
export interface ClientWatch {
  /** From now on a holder is told; where its client has left already, at once. */
  watch(holder: Holder): void;
  /** Tells a holder whose client has left already, whether it is watched or not. */
  look(holder: Holder): void;
  /** Nothing of the handling runs any more. */
  forget(holder: Holder): void;
  /** The handling begins to wait for permits. */
  beginWait(holder: Holder): void;
  /** Whether the response of a holder has to wait until another request of its connection has got its permits. */
  isBlocked(holder: Holder): boolean;
}
