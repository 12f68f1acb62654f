import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';

import type { Backend } from './backend';
import { toIpcError } from './backend';

/** The real host: every command takes one argument object named `args`, every event carries its payload. */
export const tauriBackend: Backend = {
  async invoke(name, ...args) {
    try {
      return await invoke(name, args.length === 0 ? {} : { args: args[0] });
    } catch (thrown) {
      throw toIpcError(thrown);
    }
  },
  listen(name, handler) {
    return listen<Parameters<typeof handler>[0]>(name, (event) => handler(event.payload));
  },
};
