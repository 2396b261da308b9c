import type { Scenario } from '../scenario.js';

const STATUS = '-w "  %{http_code}\\n"';
const STATUS_AND_TIME = '-w "  %{http_code} after %{time_total} s\\n"';

export const shapes: Scenario = {
  title: 'A window, a bucket and a queue under the same burst',
  promise:
    'The window lets 20 through in 5 seconds, the bucket 20 at once and then 5 a second, the queue 4 at a time.',
  commands: (url) => [
    {
      line: `curl -s ${STATUS} "${url}/shapes/window?n=[1-25]"`,
      shows: 'five are refused; again 20 when the window is over, not before',
    },
    {
      line: `curl -s ${STATUS} "${url}/shapes/bucket?n=[1-25]"`,
      shows: 'five are refused; a second later there are five tokens again',
    },
    {
      line: `curl -sZ --parallel-immediate --no-progress-meter ${STATUS_AND_TIME} "${url}/shapes/queue?n=[1-25]"`,
      shows: 'nobody is refused: four every half second',
    },
  ],
};
