// The parts of undici that the transport needs, by file: the package as a whole takes three times as long to load.
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}
