/** What tells whether there are several processes of the application. */
export interface ProcessFacts {
  /** Whether the process is a worker of Node's cluster module, which PM2's cluster mode uses as well. */
  readonly isWorker: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What is wrong with limits in the process where there are several; `undefined` for nothing. */
export function clusterProblem({ isWorker, env }: ProcessFacts): string | undefined {
  const isOneOfMany = isWorker || (env.pm_id !== undefined && Number(env.instances) > 1);
  if (!isOneOfMany) return undefined;
  return (
    'This process is one of several workers, and each counts for itself: together they allow as many times the limits as ' +
    'there are workers. Divide the limits by that number, or share them through a store with limiters that ask it.'
  );
}
