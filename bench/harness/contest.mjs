// Lets contestants compete: each in a process of its own, their rounds interleaved (A B C A B C …), so that whatever
// slows the machine down for a while slows all of them.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROCESS = fileURLToPath(new URL('contestant-process.mjs', import.meta.url));
/** Getting ready takes longer than the rounds, and isn't measured. */
const STARTED_AT_ONCE = 2;

/**
 * @param {import('./workload.mjs').Workload} workload
 * @param {import('./workload.mjs').Scenario} scenario
 * @param {import('./workload.mjs').Settings} settings
 * @returns {Promise<Map<string, Record<string, number>[]>>} for each contestant the figures of its rounds
 */
export async function contest(workload, scenario, settings) {
  const rounds = settings.rounds ?? workload.rounds;
  const samples = new Map(scenario.contestants.map((id) => [id, []]));
  const start = (id) => startContestant({ workload: workload.name, scenario, contestant: id, settings });

  if (workload.isProcessPerRound) {
    for (let round = 0; round < rounds; round++) {
      for (const [id, figures] of samples) {
        const contestant = await start(id);
        figures.push(await contestant.round());
        await contestant.end();
      }
    }
    return samples;
  }

  const contestants = await startAll([...samples.keys()], start);
  for (let round = 0; round < rounds; round++) {
    for (const [id, figures] of samples) figures.push(await contestants.get(id).round());
  }
  await Promise.all([...contestants.values()].map((contestant) => contestant.end()));
  return samples;
}

async function startAll(ids, start) {
  const started = new Map();
  for (let at = 0; at < ids.length; at += STARTED_AT_ONCE) {
    const some = ids.slice(at, at + STARTED_AT_ONCE);
    const processes = await Promise.all(some.map(start));
    some.forEach((id, index) => started.set(id, processes[index]));
  }
  return started;
}

async function startContestant(task) {
  const execArgv = ['--expose-gc', ...(task.settings.nodeArguments ?? [])];
  const child = fork(PROCESS, [JSON.stringify(task)], { execArgv });
  const ended = once(child, 'exit').then(() => [{ error: 'it ended before its time.' }]);
  const answer = async () => {
    const [what] = await Promise.race([once(child, 'message'), ended]);
    if (what.error !== undefined) {
      child.kill();
      throw new Error(`${task.contestant} in ${task.workload}, ${task.scenario.name}: ${what.error}`);
    }
    return what.figures;
  };
  await answer();
  return {
    round: () => {
      child.send('round');
      return answer();
    },
    end: async () => {
      child.disconnect();
      await ended;
    },
  };
}
