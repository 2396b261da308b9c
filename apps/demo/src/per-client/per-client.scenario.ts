import type { Scenario } from '../scenario.js';

export const perClient: Scenario = {
  title: 'A limit per client, with headers',
  promise: 'Each client may ask 5 times in 10 seconds. Every answer says how much is left.',
  commands: (url) => [
    {
      line: `curl -si -w "\\n" "${url}/per-client?request=[1-6]"`,
      shows: 'five answers whose RateLimit counts down; the sixth is 429 and says Retry-After',
    },
    {
      line: `curl -si -w "\\n" -H "X-Forwarded-For: 203.0.113.7" ${url}/per-client`,
      shows: 'another client, who has not asked yet (the demo trusts a proxy on this machine)',
    },
  ],
};
