import { HttpException, UseGuards } from '@nestjs/common';

/** The least that refuses: an exception that exists already. */
export const contestant = {
  title: 'a guard that throws a prepared exception',
  setup: () => {
    const exception = new HttpException({ statusCode: 429, message: 'Too many requests.' }, 429);
    const canActivate = () => {
      throw exception;
    };
    return { decorators: [UseGuards({ canActivate })] };
  },
};
