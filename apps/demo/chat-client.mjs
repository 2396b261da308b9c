// Four connections of one user, who may have three.
//
//   node apps/demo/chat-client.mjs ws://localhost:3000/chat paula
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { WebSocket } from 'ws';

const [address = 'ws://localhost:3000/chat', user = 'paula'] = process.argv.slice(2);
const RETRY_MS = 20;
const GIVE_UP_MS = 5_000;

/** Says something, and resolves with what comes back. */
async function say(socket, text) {
  socket.send(JSON.stringify({ event: 'say', data: text }));
  const [message] = await once(socket, 'message');
  return JSON.parse(message.toString());
}

async function connect() {
  const socket = new WebSocket(`${address}?user=${encodeURIComponent(user)}`);
  await once(socket, 'open');
  return socket;
}

const tell = (number, { event, data }) => console.log(`connection ${number}: ${event} (${data})`);

const sockets = [await connect(), await connect(), await connect(), await connect()];
for (const [index, socket] of sockets.entries()) tell(index + 1, await say(socket, 'hello'));
tell(1, await say(sockets[0], 'still here'));

console.log('connection 1 leaves');
sockets[0].close();
await once(sockets[0], 'close');

// The server hears of it when it hears of it.
let answer = await say(sockets[3], 'hello');
for (let waited = 0; answer.event === 'refused' && waited < GIVE_UP_MS; waited += RETRY_MS) {
  await setTimeout(RETRY_MS);
  answer = await say(sockets[3], 'hello');
}
tell(4, answer);
for (const socket of sockets) socket.close();
