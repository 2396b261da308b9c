// Some of 100,000 waiters, each with a signal of its own, give up.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readMainThreadMs } from '../harness/main-thread-clock.mjs';

const LIMIT = 10;
const TURNS_UNTIL_SERVED = 200;
/** Whoever takes longer aborts fewer. */
const AT_MOST_MS = 500;
const PEERS = ['cockatiel-4', 'cockatiel-3', 'p-queue'];

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'queue-abort',
  title: 'Aborting',
  folder: 'queues',
  columns: [
    { key: 'us', title: 'µs per abort', digits: 1 },
    { key: 'rejectedAtOnce', title: 'rejected at once, %', digits: 0 },
    { key: 'lost', title: 'others lost', digits: 0 },
  ],
  rounds: 3,
  scenarios: ({ isQuick }) => [
    {
      name: 'some of 100,000 waiters',
      waiters: isQuick ? 5000 : 100_000,
      aborted: isQuick ? 100 : 2000,
      contestants: ['minimum', 'ratelease', ...PEERS],
      minimum: 'minimum',
      goals: [
        { of: 'ratelease', atMost: 1.5, times: 'minimum' },
        { of: 'ratelease', column: 'lost', atMost: 0 },
      ],
    },
  ],
};

/** In the process of a contestant. */
export async function start({ scenario, contestant: id }) {
  const { contestant } = await import(`../contestants/queues/${id}.mjs`);
  // A queue that lost somebody doesn't work any more.
  const round = () => abortSome(contestant.create({ limit: LIMIT }), scenario);
  await round();
  return { round };
}

async function abortSome(queue, { waiters, aborted }) {
  let open;
  const gate = new Promise((resolve) => (open = resolve));
  let rejected = 0;
  let served = 0;
  const onServed = () => {
    served++;
  };
  const onRejected = () => {
    rejected++;
  };
  const controllers = Array.from({ length: waiters + LIMIT }, () => new AbortController());
  for (const { signal } of controllers) queue.run(() => gate, signal).then(onServed, onRejected);
  await nextTurn();

  // Spread evenly, so that neither the front nor the end of the queue is all that is seen.
  const step = Math.floor(waiters / aborted);
  const startMs = readMainThreadMs();
  const lastMs = performance.now() + AT_MOST_MS;
  let count = 0;
  while (count < aborted && performance.now() < lastMs) controllers[LIMIT + count++ * step].abort();
  await nextTurn();
  const us = ((readMainThreadMs() - startMs) * 1000) / count;
  const rejectedAtOnce = (100 * rejected) / count;

  open();
  for (let turn = 0; turn < TURNS_UNTIL_SERVED && served + rejected < controllers.length; turn++)
    await nextTurn();
  return { us, rejectedAtOnce, lost: controllers.length - served - rejected };
}
