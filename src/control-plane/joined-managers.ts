import type { Manager } from "../runtime/manager.ts";

/** Two managers with one life, because they act as different users: health and metrics tell of both. */
export const joinedManagers = (first: Manager, second: Manager): Manager => ({
  add: (controller) => first.add(controller),
  async start() {
    await Promise.all([first.start(), second.start()]);
  },
  async stop() {
    await Promise.all([first.stop(), second.stop()]);
  },
  informer: (kind, scope) => first.informer(kind, scope),
  get controllers() {
    return [...first.controllers, ...second.controllers];
  },
  get informers() {
    return [...first.informers, ...second.informers];
  },
  get metrics() {
    return first.metrics;
  },
  get isLeader() {
    return first.isLeader && second.isLeader;
  },
  get isElectionHealthy() {
    return first.isElectionHealthy && second.isElectionHealthy;
  },
  get stopped() {
    return Promise.race([first.stopped, second.stopped]);
  },
});
