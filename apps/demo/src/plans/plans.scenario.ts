import type { Scenario } from '../scenario.js';

const STATUS = '-w "  %{http_code}\\n"';

export const plans: Scenario = {
  title: 'A policy class with an injected service: plans of customers',
  promise: 'Customers with the free plan may export 2 files at once, those who pay 20.',
  commands: (url) => [
    {
      line: `curl -Z --parallel-immediate --no-progress-meter ${STATUS} -H "X-Customer: fred" "${url}/plans/export?file=[1-3]"`,
      shows: 'Fred has the free plan: two files, the third is refused',
    },
    {
      line: `curl -Z --parallel-immediate --no-progress-meter ${STATUS} -H "X-Customer: paula" "${url}/plans/export?file=[1-21]"`,
      shows: 'Paula pays: twenty files at once, the twenty-first is refused',
    },
    {
      line: `curl -s ${STATUS} ${url}/plans/export`,
      shows: 'nobody we know: 401, before any limit is asked',
    },
  ],
};
