import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { INestApplication } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { version } from '@nestjs/core/package.json';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';

/** Nest runs app-wide guards and interceptors on gateways since 12; the `ws` adapter of 11 tells clients no errors. */
export const NEST_MAJOR = Number.parseInt(version, 10);

/** A client of either library, as tests use it. */
export interface TestClient {
  /** Events that have come. */
  readonly received: { readonly event: string; readonly data: unknown }[];
  isClosed(): boolean;
  say(event: string, data?: unknown): void;
  leave(): void;
}

/** A kind of WebSocket server. */
export interface SocketKind {
  readonly name: string;
  readonly adapter: new (app: INestApplication) => object;
  readonly connect: (app: INestApplication) => Promise<TestClient>;
}

export const SOCKET_KINDS: readonly SocketKind[] = [
  { name: 'ws', adapter: WsAdapter, connect: connectWs },
  { name: 'socket.io', adapter: IoAdapter, connect: connectIo },
];

const clients = new Set<TestClient>();

/** For `afterEach`. */
export function leaveAll(): void {
  for (const client of clients) client.leave();
  clients.clear();
}

function portOf(app: INestApplication): number {
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}

async function connectWs(app: INestApplication): Promise<TestClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${portOf(app)}`);
  const received: TestClient['received'] = [];
  socket.on('message', (text: Buffer) => received.push(JSON.parse(text.toString()) as never));
  await once(socket, 'open');
  return noted({
    received,
    isClosed: () => socket.readyState === WebSocket.CLOSED,
    say: (event, data) => socket.send(JSON.stringify({ event, data })),
    leave: () => socket.terminate(),
  });
}

async function connectIo(app: INestApplication): Promise<TestClient> {
  const socket = io(`http://127.0.0.1:${portOf(app)}`, { transports: ['websocket'], reconnection: false });
  const received: TestClient['received'] = [];
  socket.onAny((event: string, data: unknown) => received.push({ event, data }));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  return noted({
    received,
    isClosed: () => socket.disconnected,
    say: (event, data) => socket.emit(event, data),
    leave: () => socket.disconnect(),
  });
}

function noted(client: TestClient): TestClient {
  clients.add(client);
  return client;
}
