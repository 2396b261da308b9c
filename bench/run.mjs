// Ours beside the peers: every workload, or those named.
//
//   npm run bench                        everything
//   npm run bench -- decisions memory    these workloads
//   npm run bench -- --quick             does it run? (the figures mean nothing)
//   npm run bench -- --json FILE         also machine-readable
//   npm run bench -- --docs              the tables also into docs/benchmarks.md, with their charts
//   npm run bench -- --only ratelease    only contestants with that in their name, and the minimums
//   npm run bench -- --rounds 21         more rounds
//   npm run bench -- --node=--cpu-prof   arguments of node for the contestants' processes
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { contest } from './harness/contest.mjs';
import { putIntoDocs } from './harness/documentation.mjs';
import { describe, summarize } from './harness/report.mjs';

const { values: flags, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    docs: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    node: { type: 'string', multiple: true },
  },
});
const settings = {
  isQuick: flags.quick,
  rounds: flags.rounds === undefined ? (flags.quick ? 1 : undefined) : Number(flags.rounds),
  nodeArguments: flags.node,
};

const here = new URL('.', import.meta.url);
const available = readdirSync(new URL('workloads/', here)).map((file) => file.replace('.mjs', ''));
const unknown = wanted.filter((name) => !available.includes(name));
if (unknown.length > 0) {
  console.error(`There is no workload ${unknown.join(', ')}: there are ${available.join(', ')}.`);
  process.exit(1);
}

const machine = { node: process.version, v8: process.versions.v8, cores: availableParallelism() };
const machineText = `Node ${machine.node}, V8 ${machine.v8}, ${machine.cores} cores`;
console.log(machineText);
const results = [];
for (const name of wanted.length > 0 ? wanted : available) results.push(...(await runWorkload(name)));

if (flags.json !== undefined) {
  const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', here), 'utf8'));
  writeFileSync(flags.json, `${JSON.stringify({ machine, versions: devDependencies, results }, null, 2)}\n`);
}

async function runWorkload(name) {
  const { workload } = await import(`./workloads/${name}.mjs`);
  const done = [];
  const texts = [];
  for (const scenario of workload.scenarios(settings)) {
    const chosen = flags.only === undefined ? scenario : choose(scenario, flags.only);
    const titles = await titlesOf(workload.folder, chosen.contestants);
    const result = summarize(workload, chosen, titles, await contest(workload, chosen, settings));
    texts.push(describe(workload, result));
    console.log(texts.at(-1));
    done.push(result);
  }
  if (flags.docs) putIntoDocs(name, [`\n${machineText}`, ...texts].join('\n'));
  return done;
}

function choose(scenario, part) {
  const contestants = scenario.contestants.filter((id) => id.includes(part) || id.startsWith('minimum'));
  const isHere = ({ of, aheadOf = [], times = of, above = of }) =>
    [of, times, above, ...aheadOf].every((id) => contestants.includes(id));
  return { ...scenario, contestants, goals: scenario.goals.filter(isHere) };
}

async function titlesOf(folder, ids) {
  const modules = await Promise.all(ids.map((id) => import(`./contestants/${folder}/${id}.mjs`)));
  return new Map(modules.map(({ contestant }, index) => [ids[index], contestant.title]));
}
