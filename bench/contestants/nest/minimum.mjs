/** The application by itself. */
export const contestant = { title: 'nothing', setup: () => ({}) };
