import type { Scenario } from '../scenario.js';

const STATUS_AND_TIME = '-w "  %{http_code} after %{time_total} s\\n"';

export const queue: Scenario = {
  title: 'A concurrency limit with a queue',
  promise: 'Two reports are made at once, each in 3 seconds. A third client waits, a fourth is refused.',
  commands: (url) => [
    {
      line: `curl -Z --parallel-immediate --no-progress-meter ${STATUS_AND_TIME} "${url}/queue/report?client=[1-4]"`,
      shows: 'one is refused at once, two are served after 3 seconds, the one that waited after 6',
    },
    {
      line: `curl -s ${STATUS_AND_TIME} "${url}/queue/report?client=5"`,
      shows: 'afterwards nothing is held and nobody waits: 3 seconds',
    },
  ],
};
