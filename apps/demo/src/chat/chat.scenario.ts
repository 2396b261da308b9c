import type { Scenario } from '../scenario.js';

export const chat: Scenario = {
  title: 'A chat with three connections per user',
  promise: 'A connection holds one permit for all its messages, from the first one until it leaves.',
  commands: (url) => [
    {
      line: `node apps/demo/chat-client.mjs ${url.replace(/^http/, 'ws')}/chat paula`,
      shows: 'four connections: the fourth is refused until the first has left',
    },
  ],
};
