import Bottleneck from 'bottleneck';

/**
 * Can't answer without running: a decision is a job that does nothing. It starts a turn of the timers later, so many
 * are asked at once; one after the other it would be a millisecond each.
 */
export const contestant = {
  title: 'bottleneck',
  isAsync: true,
  atOnce: 1000,
  create({ limit, windowMs }) {
    const limiter = new Bottleneck({
      reservoir: limit,
      reservoirRefreshAmount: limit,
      reservoirRefreshInterval: windowMs,
    });
    const job = async () => true;
    return { decide: () => limiter.schedule(job) };
  },
};
