import type { ClientDuplexStream, ClientReadableStream, Metadata, ServiceError } from '@grpc/grpc-js';
import { credentials, loadPackageDefinition, Client } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { Transport } from '@nestjs/microservices';
import { join } from 'node:path';

const PROTO = join(__dirname, 'work.proto');

/** What calls send and receive. */
export interface Piece {
  readonly name: string;
}

/** What a microservice listens with. */
export const grpcOptionsOf = (port: number): MicroserviceOptions => ({
  transport: Transport.GRPC,
  options: { url: `127.0.0.1:${port}`, package: 'work', protoPath: PROTO, gracefulShutdown: true },
});

type Callback = (error: ServiceError | null, piece?: Piece) => void;
type Cancellable = Pick<ClientReadableStream<Piece>, 'cancel'>;

interface WorksClient extends Client {
  one(piece: Piece, metadata: Metadata, callback: Callback): Cancellable;
  many(piece: Piece, metadata: Metadata): ClientReadableStream<Piece>;
  collect(metadata: Metadata, callback: Callback): ClientDuplexStream<Piece, Piece>;
  exchange(metadata: Metadata): ClientDuplexStream<Piece, Piece>;
  raw(metadata: Metadata): ClientDuplexStream<Piece, Piece>;
  rawCollect(metadata: Metadata, callback: Callback): ClientDuplexStream<Piece, Piece>;
}

/** The kinds of calls, by their names in the service. */
export const CALL_KINDS = ['one', 'many', 'collect', 'exchange', 'raw', 'rawCollect'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** A call that is on its way. */
export interface GrpcExchange {
  /** Names that have come. */
  readonly received: string[];
  /** How it has failed, once it has. */
  readonly failure: () => ServiceError | undefined;
  cancel(): void;
  /** No more will be sent. */
  end(): void;
}

const clients = new Set<WorksClient>();

/** A client of the service at a port. */
export function grpcClientOf(port: number): WorksClient {
  const { work } = loadPackageDefinition(loadSync(PROTO)) as unknown as {
    work: { Works: new (address: string, credentials: object) => WorksClient };
  };
  const client = new work.Works(`127.0.0.1:${port}`, credentials.createInsecure());
  clients.add(client);
  return client;
}

/** For `afterEach`. */
export function closeGrpcClients(): void {
  for (const client of clients) client.close();
  clients.clear();
}

/** Calls, and sends one piece. */
export function call(client: WorksClient, kind: CallKind, metadata: Metadata): GrpcExchange {
  const received: string[] = [];
  let failure: ServiceError | undefined;
  const callback: Callback = (error, piece) => {
    if (error !== null) failure = error;
    else if (piece !== undefined) received.push(piece.name);
  };
  const piece = { name: kind };
  const ended = (): void => undefined;
  if (kind === 'one') {
    const unary = client.one(piece, metadata, callback);
    return { received, failure: () => failure, cancel: () => unary.cancel(), end: ended };
  }
  if (kind === 'many') {
    const answers = listen(client.many(piece, metadata), callback);
    return { received, failure: () => failure, cancel: () => answers.cancel(), end: ended };
  }
  const isCollected = kind === 'collect' || kind === 'rawCollect';
  const stream = isCollected ? client[kind](metadata, callback) : listen(client[kind](metadata), callback);
  // A refused stream is over for who writes to it, too.
  stream.on('error', ended);
  stream.write(piece);
  return { received, failure: () => failure, cancel: () => stream.cancel(), end: () => stream.end() };
}

function listen<S extends ClientReadableStream<Piece>>(stream: S, callback: Callback): S {
  stream.on('data', (piece: Piece) => callback(null, piece));
  stream.on('error', (error: ServiceError) => callback(error));
  return stream;
}
