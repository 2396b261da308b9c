import { UseInterceptors } from '@nestjs/common';

const POLICY = '"policy-0";q=1000000000;w=600';
let left = 1_000_000_000;

/** The least that sets the fields of a response. */
export const contestant = {
  title: 'an interceptor that sets the fields',
  setup: ({ platform }) => {
    const set = platform === 'Fastify' ? 'header' : 'setHeader';
    const intercept = (context, next) => {
      const response = context.getArgByIndex(1);
      response[set]('RateLimit', `"policy-0";r=${left--};t=600`);
      response[set]('RateLimit-Policy', POLICY);
      return next.handle();
    };
    return { decorators: [UseInterceptors({ intercept })] };
  },
};
