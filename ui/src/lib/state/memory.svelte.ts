import type { Backend, MemoryGauge } from '$lib/ipc';

/** The gauge's last reading. */
export class MemoryState {
  gauge = $state.raw<MemoryGauge | null>(null);

  constructor(private readonly backend: Backend) {}

  apply(gauge: MemoryGauge): void {
    this.gauge = gauge;
  }

  async refresh(): Promise<void> {
    this.apply(await this.backend.invoke('memory_gauge'));
  }
}
