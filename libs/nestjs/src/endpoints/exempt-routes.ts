import { rawRequest } from '../http/raw-http.js';
import type { ApplicationValue } from '../context/rate-limiting-context.js';

/** Nest copies a method's metadata to the function that it gives to the router; so the mark arrives there. */
const EXEMPT = 'ratelease:exempt';
/** Where `@RouteConfig()` of Nest's Fastify adapter leaves the configuration of a route. */
const FASTIFY_CONFIG = '__fastify_route_config__';
const CONFIG_KEY = 'ratelease.exempt';

/**
 * Tells, before routing has run, requests whose route is under `@DisableRateLimiting()`. It only asks the router
 * whether one of these routes matches. Where several routes match the same address, such as by version or host,
 * it may be wrong; then the guard, which knows the handler, makes up for it.
 */
export class ExemptRoutes {
  #count = 0;
  #layers: readonly ExpressLayer[] | undefined = undefined;

  /** Marks a method before the router is built. Methods are shared by applications: each has its own mark. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  mark(handler: Function): void {
    this.#count++;
    const marks = Reflect.getOwnMetadata(EXEMPT, handler) as WeakSet<ExemptRoutes> | undefined;
    if (marks !== undefined) {
      marks.add(this);
      return;
    }
    const own = new WeakSet<ExemptRoutes>([this]);
    Reflect.defineMetadata(EXEMPT, own, handler);
    const config = Reflect.getMetadata(FASTIFY_CONFIG, handler) as object | undefined;
    Reflect.defineMetadata(FASTIFY_CONFIG, { ...config, [CONFIG_KEY]: own }, handler);
  }

  /** Whether a request of Fastify, which routes before its hooks, goes to a marked method. */
  hasFastify(request: ApplicationValue): boolean {
    if (this.#count === 0) return false;
    const { config } = (request as FastifyRouted).routeOptions;
    return (config?.[CONFIG_KEY] as WeakSet<ExemptRoutes> | undefined)?.has(this) ?? false;
  }

  /** Whether a route of a marked method matches a request of Express. */
  hasExpress(request: ApplicationValue, application: ApplicationValue): boolean {
    if (this.#count === 0) return false;
    this.#layers ??= this.#markedLayers(application);
    const method = String(rawRequest(request).method).toLowerCase();
    const path = (request as { path: string }).path;
    return this.#layers.some((layer) => handles(layer, method) && matches(layer, path));
  }

  /** Read at the first request: the router is complete then. */
  #markedLayers(application: ApplicationValue): readonly ExpressLayer[] {
    const { router, _router } = application as { router?: ExpressRouter; _router?: ExpressRouter };
    return ((router ?? _router)?.stack ?? []).filter(
      ({ route }) => route?.stack.some(({ handle }) => this.#isMarked(handle)) ?? false,
    );
  }

  #isMarked(handle: object): boolean {
    return (Reflect.getMetadata(EXEMPT, handle) as WeakSet<ExemptRoutes> | undefined)?.has(this) ?? false;
  }
}

/** Express answers HEAD from the GET route. */
function handles({ route }: ExpressLayer, method: string): boolean {
  const methods = route?.methods ?? {};
  return methods._all === true || methods[method] === true || (method === 'head' && methods.get === true);
}

/** An address that can't be decoded matches nothing; the router will say so itself. */
function matches(layer: ExpressLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false;
  }
}

interface FastifyRouted {
  readonly routeOptions: { readonly config?: Readonly<Record<string, unknown>> };
}

interface ExpressRouter {
  readonly stack: readonly ExpressLayer[];
}

interface ExpressLayer {
  readonly route?: {
    readonly methods: Readonly<Record<string, boolean | undefined>>;
    readonly stack: readonly { readonly handle: object }[];
  };
  match(path: string): boolean;
}
