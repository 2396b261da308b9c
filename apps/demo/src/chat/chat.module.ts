// A chat with three connections per user: the fourth is refused until one of them leaves.
//
//   node apps/demo/chat-client.mjs ws://localhost:3000/chat paula
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch, Module, UseFilters, UseInterceptors } from '@nestjs/common';
import type { OnGatewayConnection } from '@nestjs/websockets';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { EnableRateLimiting, RateLimitingInterceptor } from '@ratelease/nestjs';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';

const POLICY_VIOLATION = 1008;

/** A connection, and whose it is: `byUser()` reads `user.id`. */
interface ChatSocket extends WebSocket {
  user?: { readonly id: string };
}

/** Tells the client in the chat's own words. */
@Catch()
class RefusalFilter implements ExceptionFilter<Error> {
  catch({ message }: Error, host: ArgumentsHost): void {
    host
      .switchToWs()
      .getClient<ChatSocket>()
      .send(JSON.stringify({ event: 'refused', data: message }));
  }
}

@WebSocketGateway({ path: '/chat' })
@UseFilters(RefusalFilter)
// Nest 12 does so by itself; Nest 11 runs nothing app-wide on gateways.
@UseInterceptors(RateLimitingInterceptor)
class ChatGateway implements OnGatewayConnection<ChatSocket> {
  /** Takes everybody at their word. A real application checks a session or a token. */
  handleConnection(client: ChatSocket, request: IncomingMessage): void {
    const id = new URL(request.url ?? '', 'ws://chat').searchParams.get('user');
    if (id === null || id === '') client.close(POLICY_VIOLATION, 'Say who you are: /chat?user=paula');
    else client.user = { id };
  }

  @SubscribeMessage('say')
  @EnableRateLimiting('chatConnections')
  say(@MessageBody() text: string): { event: string; data: string } {
    return { event: 'said', data: text };
  }
}

@Module({ providers: [ChatGateway] })
export class ChatModule {}
