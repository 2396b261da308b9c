import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** A process that wanders between cores finds its caches cold. Where there is no `taskset`, it may wander. */
export function pin(pid, core) {
  if (availableParallelism() <= core) return;
  try {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)], {
      stdio: 'ignore',
    });
  } catch {
    // Only Linux has it.
  }
}
