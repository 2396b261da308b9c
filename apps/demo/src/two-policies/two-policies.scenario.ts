import type { Scenario } from '../scenario.js';

export const twoPolicies: Scenario = {
  title: 'Two policies at once: burst and sustained',
  promise: 'At most 3 searches in 2 seconds and 6 in 30. What one policy refuses costs the other nothing.',
  commands: (url) => [
    {
      line: `curl -si -w "\\n" "${url}/two-policies/search?q=[1-5]"`,
      shows: '"burst" refuses the fourth and the fifth; "sustained" still has 3 left',
    },
    {
      line: `curl -si -w "\\n" "${url}/two-policies/search?q=[6-9]"`,
      shows:
        'wait two seconds first: three more, then both are spent, and Retry-After is that of the longer one',
    },
  ],
};
