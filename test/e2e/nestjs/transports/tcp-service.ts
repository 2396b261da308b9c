import type { ClientProxy, MicroserviceOptions } from '@nestjs/microservices';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';

/** What a microservice listens with. */
export const optionsOf = (port: number): MicroserviceOptions => ({
  transport: Transport.TCP,
  options: { host: '127.0.0.1', port },
});

const clients = new Set<ClientProxy>();

/** A client of the microservice at a port. */
export function clientOf(port: number): ClientProxy {
  const client = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
  });
  clients.add(client);
  return client;
}

/** For `afterEach`. */
export async function closeClients(): Promise<void> {
  for (const client of clients) await client.close();
  clients.clear();
}
