import type { DynamicModule } from '@nestjs/common';
import { ActiveSessionLimitingModule, ActiveSessionModule, byUserId } from '@ratelease/active-session';
import type { Clock } from '@ratelease/limiters';
import { RateLimitingModule } from '@ratelease/nestjs';
import { RateLimitingDashboardModule } from '@ratelease/dashboard';
import { ChatModule } from './chat/chat.module.js';
import { chatPolicies } from './chat/chat.policies.js';
import { DisabledModule } from './disabled/disabled.module.js';
import { disabledPolicies } from './disabled/disabled.policies.js';
import { EventsModule } from './events/events.module.js';
import { eventsPolicies } from './events/events.policies.js';
import { ExportsModule } from './exports/exports.module.js';
import { OverviewModule } from './overview/overview.module.js';
import { PerClientModule } from './per-client/per-client.module.js';
import { perClientPolicies } from './per-client/per-client.policies.js';
import { PlansModule } from './plans/plans.module.js';
import { plansPolicies } from './plans/plans.policies.js';
import { QueueModule } from './queue/queue.module.js';
import { queuePolicies } from './queue/queue.policies.js';
import { ShapesModule } from './shapes/shapes.module.js';
import { shapesPolicies } from './shapes/shapes.policies.js';
import { TrafficModule } from './traffic/traffic.module.js';
import { TwoPoliciesModule } from './two-policies/two-policies.module.js';
import { twoPoliciesPolicies } from './two-policies/two-policies.policies.js';
import { WorkModule } from './work/work.module.js';

/** The demo: a module for each scenario, and one place that knows all policies. */
export class DemoModule {
  /** @param clock - the time of all limiters and of all work. */
  static with(clock: Clock): DynamicModule {
    return {
      module: DemoModule,
      imports: [
        WorkModule.with(clock),
        RateLimitingModule.forRoot({
          clock,
          policies: {
            ...perClientPolicies,
            ...twoPoliciesPolicies,
            ...queuePolicies,
            ...plansPolicies,
            ...eventsPolicies,
            ...disabledPolicies,
            ...shapesPolicies,
            ...chatPolicies(clock),
          },
        }),
        ActiveSessionModule.forRoot({ clock, group: byUserId() }),
        ActiveSessionLimitingModule.forRoot({ permitLimit: 10, name: 'exports' }),
        OverviewModule,
        RateLimitingDashboardModule.forRoot({
          clock,
          // For a demo on one's own machine. An application names its guards here.
          guards: 'unguarded',
          path: 'dashboard',
          title: 'The limits of the demo',
          keys: 'plain',
          recording: 'always',
          scripts: ['/traffic/controls.js'],
        }),
        TrafficModule,
        PerClientModule,
        TwoPoliciesModule,
        QueueModule,
        PlansModule,
        ExportsModule,
        EventsModule,
        DisabledModule,
        ShapesModule,
        ChatModule,
      ],
    };
  }
}
