// What a limit costs a request to a Nest application: processor time of the server, whoever else uses the machine.
// Measured twice: over sockets, which is the whole truth, and without them, where small differences can be seen.
import { meterOf } from '../harness/cpu-per-request.mjs';
import { CLIENTS, readProcessUs, requestsTo } from '../harness/requests.mjs';

const PATH = '/answer';
const WARM_UP = 12_000;
const REQUESTS = 2_000;
const OURS = [
  'ratelease-interceptor',
  'ratelease-guard',
  'ratelease-two',
  'ratelease-three',
  'ratelease-ten',
  'ratelease-unlimited',
];
const PEERS = { Fastify: ['fastify-rate-limit', 'throttler'], Express: ['express-rate-limit', 'throttler'] };

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'nest',
  title: 'Nest',
  folder: 'nest',
  columns: [
    { key: 'us', title: 'µs of CPU per request', digits: 1 },
    { key: 'inProcess', title: 'without sockets', digits: 1 },
  ],
  rounds: 21,
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
    ].map((goal) => ({ ...goal, column: 'inProcess' })),
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
  const server = await listen(platform, contestant.setup({ platform, isRefused }));
  const meter = await meterOf(server.address().port, PATH);
  const inside = requestsTo(server, PATH);
  const check = (statuses, count) => {
    if (statuses[isRefused ? '429' : '200'] !== count)
      throw new Error(`Not all are ${outcome}: ${JSON.stringify(statuses)}.`);
  };
  const round = async (count) => {
    const { us, statuses } = await meter.measure(count);
    check(statuses, count);
    const before = readProcessUs();
    const insideStatuses = await inside.send(count);
    const inProcess = (readProcessUs() - before) / count;
    check(insideStatuses, count);
    return { us, inProcess };
  };
  // The first request of each of the clients is granted, whatever the limit.
  await meter.measure(CLIENTS);
  await round(settings.isQuick ? 50 : WARM_UP);
  return { round: () => round(settings.isQuick ? 50 : REQUESTS) };
}
