// Active sessions: ten exports may be open per customer, and the requests of an export share its permit.
//
//   curl -s -w "  %{http_code}\n" -X PUT -H "X-Customer: paula" "http://localhost:3000/exports/[1-11]"
//   curl -s -w "\n" -H "X-Customer: paula" "http://localhost:3000/exports/[1-10]"
//   curl -s -w "  %{http_code}\n" -X DELETE -H "X-Customer: paula" http://localhost:3000/exports/1
//   curl -s -w "  %{http_code}\n" -X PUT -H "X-Customer: paula" http://localhost:3000/exports/11
//   curl -s -w "  %{http_code}\n" -H "X-Customer: fred" http://localhost:3000/exports/2
import { Controller, Delete, Get, Module, Put, UseGuards } from '@nestjs/common';
import type { ActiveSession } from '@ratelease/active-session';
import { CurrentActiveSession, OpensActiveSession } from '@ratelease/active-session';
import { CustomerGuard } from '../plans/customer.guard.js';
import { Customers } from '../plans/customers.js';
import { Work } from '../work/work.js';

const STEPS = 10;
const STEP_MS = 3_000;

@Controller('exports')
@UseGuards(CustomerGuard)
class ExportsController {
  readonly #work: Work;

  constructor(work: Work) {
    this.#work = work;
  }

  @Put(':sessionId')
  @OpensActiveSession({ named: true })
  open(@CurrentActiveSession() session: ActiveSession): string {
    if (session.works.length === 0) {
      session.startWork<void, number>(async ({ signal, report }) => {
        for (let step = 1; step <= STEPS; step++) {
          await this.#work.takes(STEP_MS, signal);
          report((step / STEPS) * 100);
        }
      });
    }
    return `Export ${session.id} is open.`;
  }

  @Get(':sessionId')
  poll(@CurrentActiveSession() session: ActiveSession): string {
    const [work] = session.works;
    return `Export ${session.id}: ${work === undefined ? 'done' : `${String(work.progress ?? 0)} %`}`;
  }

  @Delete(':sessionId')
  async finish(@CurrentActiveSession() session: ActiveSession): Promise<string> {
    await session.terminate();
    return `Export ${session.id} is finished.`;
  }
}

@Module({ controllers: [ExportsController], providers: [Customers, CustomerGuard] })
export class ExportsModule {}
