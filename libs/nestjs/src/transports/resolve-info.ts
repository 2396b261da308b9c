import type { ExecutionContext } from '@nestjs/common';

/** What GraphQL tells a resolver of its operation, as far as it is needed here. */
export interface ResolveInfo {
  /** Absent where a server calls a resolver by other arguments, as for many objects at once. */
  readonly operation?: { readonly operation: string };
  readonly parentType: unknown;
  readonly schema: { getSubscriptionType(): unknown };
}

/** What the resolver of a context is told; `undefined` where that is nothing. */
export function resolveInfoOf(execution: ExecutionContext): ResolveInfo | undefined {
  return execution.getArgByIndex<ResolveInfo | undefined>(3);
}

/** Whether a resolver begins the stream of a subscription, and isn't one that runs for each of its events. */
export function beginsStream({ operation, parentType, schema }: ResolveInfo): boolean {
  return operation?.operation === 'subscription' && parentType === schema.getSubscriptionType();
}
