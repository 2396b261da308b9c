import type { RateLimitLease } from '@ratelease/limiters';
import { RateLimitRejectedException } from '../rejection/rate-limit-rejected.exception.js';
import { OutsideExecution } from '../context/outside-execution.js';
import { asTransportError } from './transport-refusal.js';

const rejection = (status: number, retryAfterMs?: number): RateLimitRejectedException =>
  new RateLimitRejectedException({
    lease: {} as RateLimitLease,
    policyName: 'slots',
    reason: 'endpoint',
    retryAfterMs,
    status,
    message: 'Too many requests.',
  });

const of = (type: 'ws' | 'rpc' | 'graphql') => ({
  type,
  handler: undefined,
  execution: new OutsideExecution(type, []),
});

const told = { message: 'Too many requests.', policy: 'slots' };

describe.each([429, 503])('a refusal with the status %d', (status) => {
  it('tells it to clients of gateways', async () => {
    const error = (await asTransportError(rejection(status), of('ws'))) as {
      getError(): unknown;
    };
    expect(error.getError()).toEqual({ status: 'error', code: status, ...told });
  });

  it('tells it to clients of microservices', async () => {
    const error = (await asTransportError(rejection(status, 1_001), of('rpc'))) as {
      getError(): unknown;
    };
    expect(error.getError()).toEqual({ code: status, ...told, retryAfter: 2 });
  });

  it('tells it to clients of GraphQL, with a code in words', async () => {
    expect(await asTransportError(rejection(status), of('graphql'))).toMatchObject({
      extensions: {
        code: status === 429 ? 'TOO_MANY_REQUESTS' : 'SERVICE_UNAVAILABLE',
        status,
        policy: 'slots',
      },
    });
  });
});
