// Sends the requests, in a process of its own: what that costs isn't the server's.
import { openConnections } from './http-load.mjs';

const [port, path] = process.argv.slice(2);
const connections = await openConnections(Number(port), path);

process.on('disconnect', () => process.exit());
process.on('message', ({ count }) => {
  const answer = count === 1 ? connections.first() : connections.send(count);
  answer.then((answered) => process.send({ answered }));
});
process.send({ isReady: true });
