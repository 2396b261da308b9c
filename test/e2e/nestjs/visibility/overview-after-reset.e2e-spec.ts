import { RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

describe('the overview after a reset', () => {
  afterEach(stopApps);

  it('tells how many permits are left where those who waited were asked anew', async () => {
    const slots = { algorithm: 'concurrency', permitLimit: 2, queueLimit: 5 } as const;
    const { app } = await startApp(PLATFORMS[0]!, {
      imports: [RateLimitingModule.forRoot({ policies: { slots } })],
    });
    const service = app.get(RateLimitingService, { strict: false });
    const context = service.createContext();
    await service.acquire('slots', context, { permitCount: 2 });
    const waiting = service.acquire('slots', context);
    await eventually(() => service.overview()[0]?.queued === 1);
    void service.reset('slots');
    await waiting;
    expect(service.overview()).toMatchObject([{ partitions: 1, available: 1, queued: 0 }]);
  });
});
