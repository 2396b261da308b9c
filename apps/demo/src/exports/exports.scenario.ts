import type { Scenario } from '../scenario.js';

const STATUS = '-w "  %{http_code}\\n"';
const PAULA = '-H "X-Customer: paula"';

export const exportsPerCustomer: Scenario = {
  title: 'Active sessions: exports per customer',
  promise: 'Ten exports may be open per customer. All requests of an export share its one permit.',
  commands: (url) => [
    {
      line: `curl -s ${STATUS} -X PUT ${PAULA} "${url}/exports/[1-11]"`,
      shows: 'ten are opened, the eleventh is refused',
    },
    {
      line: `curl -s -w "\\n" ${PAULA} "${url}/exports/[1-10]"`,
      shows: 'their progress; type it as often as you like',
    },
    {
      line: `curl -s ${STATUS} -X DELETE ${PAULA} ${url}/exports/1`,
      shows: 'one is finished, and its permit is back',
    },
    { line: `curl -s ${STATUS} -X PUT ${PAULA} ${url}/exports/11`, shows: 'so the eleventh is opened' },
    {
      line: `curl -s ${STATUS} -H "X-Customer: fred" ${url}/exports/2`,
      shows: "Fred knows nothing of Paula's exports: 404",
    },
  ],
};
