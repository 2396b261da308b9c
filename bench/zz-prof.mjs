import { uniformKeys } from './harness/keys.mjs';
import { startServer } from './redis/server.mjs';
const [id, inFlight, limits='1', decisions='200000'] = process.argv.slice(2);
const { contestant } = await import(`./contestants/redis/${id}.mjs`);
const { port } = await startServer();
const limiter = await contestant.open({ port, limits: Number(limits), limit: 1_000_000, windowMs: 600_000 });
const keys = uniformKeys(2000, 100_000);
let left, granted;
async function run(n) { left = n; granted = 0;
 const one = async () => { while (left > 0) { left--; if (await limiter.decide(keys[left % keys.length])) granted++; } };
 await Promise.all(Array.from({length: Number(inFlight)}, one)); }
await run(20000);
const best = [];
for (let r = 0; r < 8; r++) { const a = process.cpuUsage(); await run(Number(decisions)/8); const b = process.cpuUsage(a); best.push((b.user + b.system) / (Number(decisions)/8)); }
best.sort((a,b)=>a-b);
console.log(id, inFlight, 'client us/decision min/median', best[0].toFixed(2), best[4].toFixed(2));
process.exit(0);
