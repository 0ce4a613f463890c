/** `capstan/registry-client`: keeps a service registered, from Node or from a page. Nothing here needs Node. */
export { type ClientEnv, type PageWorld, pageEnv } from "./client-env.ts";
export {
  type DiscoveryOptions,
  type DiscoveryService,
  discoveryService,
  type Fetch,
  type FetchAnswer,
  type FetchInit,
  type Outcome,
  type RegistrationTarget,
} from "./discovery-service.ts";
export { deregisterOnPageHide, type PageLife, type PageListener, type PageStorage, storedId } from "./page.ts";
export {
  createRegistrationManager,
  type DiscoveryCallback,
  type IdStore,
  type RegistrationManager,
  type RegistrationOptions,
} from "./registration-manager.ts";
