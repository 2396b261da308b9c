import type { Scenario } from '../scenario.js';

export const events: Scenario = {
  title: 'A stream that keeps its permit until the client leaves',
  promise: 'Two clients may listen at once, for as long as they like.',
  commands: (url) => [
    {
      line: `curl -sNZ --parallel-immediate --no-progress-meter -m 5 "${url}/events?client=[1-3]"`,
      shows: 'two clients listen until curl leaves after 5 seconds; the third is refused meanwhile',
    },
    {
      line: `curl -sN -m 3 "${url}/events?client=4"`,
      shows: 'afterwards there is room again',
    },
  ],
};
