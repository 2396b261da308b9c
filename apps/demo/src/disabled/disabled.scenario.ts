import type { Scenario } from '../scenario.js';

const STATUS = '-w "  %{http_code}\\n"';

export const disabled: Scenario = {
  title: 'An endpoint with limiting disabled',
  promise: 'The controller allows one request in 10 seconds, but whoever checks its health is never refused.',
  commands: (url) => [
    {
      line: `curl -s ${STATUS} "${url}/disabled/quote?n=[1-2]"`,
      shows: 'the second is refused',
    },
    {
      line: `curl -si -w "\\n" "${url}/disabled/health?n=[1-3]"`,
      shows: 'three times 200, and no RateLimit fields: no limiter was asked',
    },
  ],
};
