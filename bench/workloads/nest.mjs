// What a limit costs a request to a Nest application: processor time of the server, whoever else uses the machine.
import { meterOf } from '../harness/cpu-per-request.mjs';

const WARM_UP = 20_000;
const REQUESTS = 12_000;
const OURS = [
  'ratelease-interceptor',
  'ratelease-guard',
  'ratelease-two',
  'ratelease-three',
  'ratelease-unlimited',
];
const PEERS = { Fastify: ['fastify-rate-limit', 'throttler'], Express: ['express-rate-limit', 'throttler'] };

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'nest',
  title: 'Nest',
  folder: 'nest',
  columns: [{ key: 'us', title: 'µs of CPU per request', digits: 1 }],
  rounds: 11,
  scenarios: () => ['Fastify', 'Express'].flatMap((platform) => [granted(platform), refused(platform)]),
};

function granted(platform) {
  const peer = PEERS[platform][0];
  return {
    name: `${platform}, granted`,
    platform,
    outcome: 'granted',
    contestants: ['minimum', 'minimum-interceptor', ...OURS, ...PEERS[platform]],
    minimum: 'minimum',
    goals: [
      { of: 'ratelease-interceptor', atMost: 1.5, above: 'minimum-interceptor' },
      { of: 'ratelease-unlimited', atMost: 0.3, above: 'minimum' },
      { of: 'ratelease-two', atMost: 1, above: 'ratelease-interceptor' },
      { of: 'ratelease-three', atMost: 1, above: 'ratelease-two' },
      {
        of: 'ratelease-interceptor',
        atMost: platform === 'Express' ? 0.5 : 1,
        times: peer,
        above: 'minimum',
      },
      { of: 'ratelease-guard', atMost: platform === 'Express' ? 0.5 : 1, times: peer, above: 'minimum' },
    ],
  };
}

function refused(platform) {
  return {
    name: `${platform}, refused`,
    platform,
    outcome: 'refused',
    contestants: ['minimum-refusal', 'ratelease-guard', 'ratelease-interceptor', ...PEERS[platform]],
    minimum: 'minimum-refusal',
    goals: ['ratelease-guard', 'ratelease-interceptor'].map((of) => ({
      of,
      atMost: 1.2,
      times: 'minimum-refusal',
    })),
  };
}

/** In the process of a contestant. */
export async function start({ scenario: { platform, outcome }, contestant: id, settings }) {
  // Before what is loaded by require(): Node 20 can't bear both at once.
  const { listen } = await import('../nest/application.mjs');
  const { contestant } = await import(`../contestants/nest/${id}.mjs`);
  const isRefused = outcome === 'refused';
  const port = await listen(platform, contestant.setup({ platform, isRefused }));
  const meter = await meterOf(port, '/answer');
  const expected = isRefused ? '429' : '200';
  const count = settings.isQuick ? 200 : REQUESTS;
  await meter.measure(settings.isQuick ? 200 : WARM_UP);
  return {
    async round() {
      const { us, statuses } = await meter.measure(count);
      if (statuses[expected] !== count)
        throw new Error(`Not all are ${expected}: ${JSON.stringify(statuses)}.`);
      return { us };
    },
  };
}
