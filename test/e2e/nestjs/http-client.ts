import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';

/** A whole response. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As they came over the wire: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A request to send. */
export interface HttpQuestion {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly agent?: Agent;
}

/** A request that is on its way. */
export interface HttpExchange {
  /** Resolves with the head of the response. */
  readonly head: Promise<IncomingMessage>;
  /** Resolves with the whole response; rejects when the connection breaks. */
  readonly answer: Promise<HttpAnswer>;
  /** Closes the connection, as a client that leaves. */
  abort(): void;
}

/** A request on a connection of its own, unless an agent is given. */
export function exchange(port: number, question: HttpQuestion): HttpExchange {
  const body = question.body === undefined ? undefined : JSON.stringify(question.body);
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method: question.method ?? 'GET',
    path: question.path,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...question.headers },
    agent: question.agent ?? new Agent({ keepAlive: false }),
  });
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
  const answer = head.then(readAnswer);
  // Whoever aborts a request need not look at its end.
  head.catch(() => undefined);
  answer.catch(() => undefined);
  outgoing.end(body);
  return { head, answer, abort: () => outgoing.destroy() };
}

/** Sends a request and reads its response. */
export function send(port: number, question: HttpQuestion): Promise<HttpAnswer> {
  return exchange(port, question).answer;
}

async function readAnswer(message: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  return { status: message.statusCode ?? 0, headers: message.headers, rawHeaders: message.rawHeaders, body };
}
