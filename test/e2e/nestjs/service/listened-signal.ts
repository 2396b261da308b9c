/** A signal that counts its listeners. */
export function listenedSignal() {
  const controller = new AbortController();
  const signal = Object.assign(controller.signal, { listeners: 0 });
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    signal.listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    signal.listeners--;
    removeEventListener.apply(signal, args);
  };
  return { signal, abort: (reason: Error) => controller.abort(reason) };
}
