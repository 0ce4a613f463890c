/** `capstan/testing`: the in-memory world and the manual clock that our own tests use. */
export { consistently, type EventuallyLimits, eventually, settle } from "./eventually.ts";
export { type Fault, FaultPlan, type FaultRule, type RequestInfo } from "./faults.ts";
export { type ManualEnv, type ManualEnvOptions, manualEnv } from "./manual-env.ts";
export type { ServedKind } from "./memory-api.ts";
export { breakAfter, endAfter, holdEvents, mapEvents, type StreamEvent, silentAfter } from "./stream-faults.ts";
export { createWorld, type World, type WorldOptions } from "./world.ts";
