import type { WithoutStore } from '../unavailable/without-store.js';
import type { ProcessStates } from './process-states.js';

/** What an acquisition works with. */
export interface AcquisitionContext {
  readonly states: ProcessStates;
  readonly withoutStore: WithoutStore;
}
