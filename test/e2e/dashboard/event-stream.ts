import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';

/** An open stream of server-sent events. */
export interface EventStream<T> {
  readonly head: IncomingMessage;
  /** What has come so far. */
  readonly messages: T[];
  leave(): void;
}

/** Opens a stream, and resolves with the head of its response. */
export async function openEventStream<T>(port: number, path: string): Promise<EventStream<T>> {
  const request = get({ host: '127.0.0.1', port, path, agent: false });
  request.on('error', () => undefined);
  const [head] = (await once(request, 'response')) as [IncomingMessage];
  return { head, messages: messagesOf(head), leave: () => request.destroy() };
}

function messagesOf<T>(response: IncomingMessage): T[] {
  const messages: T[] = [];
  let text = '';
  response.setEncoding('utf8');
  response.on('error', () => undefined);
  response.on('data', (chunk: string) => {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop()!;
    for (const part of parts) {
      const data = part
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => line.slice('data: '.length));
      if (data.length > 0) messages.push(JSON.parse(data.join('\n')) as T);
    }
  });
  return messages;
}
