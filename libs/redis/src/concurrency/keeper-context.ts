import type { Store } from '../store/store.js';
import type { Notifications } from './notifications.js';

/** What the keepers of a process share. */
export interface KeeperContext {
  readonly store: Store;
  readonly notifications: Notifications;
  /** Called when nothing is left to keep. */
  readonly onIdle: () => void;
}
