import { ActionsSetupError } from "../control-plane/actions-on-cluster.ts";
import { RegistrySetupError } from "../control-plane/registry.ts";
import { TlsFilesError } from "../http/tls-files.ts";
import { StoreError } from "../store/store-error.ts";
import { Failure } from "./failure.ts";

/** What the person who started this can mend is told in one sentence, without a stack. */
export const mendable = (error: unknown): unknown =>
  error instanceof ActionsSetupError ||
  error instanceof RegistrySetupError ||
  error instanceof TlsFilesError ||
  error instanceof StoreError
    ? new Failure(error.message)
    : error;
