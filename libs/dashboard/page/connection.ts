import type { Snapshot } from '../src/stream/snapshot.js';
import { byId, setText } from './elements.js';

const RETRY_MS = 5_000;

/** Follows the stream, and says how that goes. A refused stream is asked for again, now and then. */
export function follow(onSnapshot: (snapshot: Snapshot) => void): void {
  const source = new EventSource(document.body.dataset['stream']!);
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    say('live', 'live');
    onSnapshot(JSON.parse(data) as Snapshot);
  });
  source.addEventListener('error', () => {
    if (source.readyState !== EventSource.CLOSED) return say('connecting', 'connecting');
    say('lost', 'no connection, or no access any more');
    setTimeout(() => follow(onSnapshot), RETRY_MS);
  });
}

function say(state: string, text: string): void {
  const pill = byId('connection');
  pill.dataset['state'] = state;
  setText(pill, text);
}
