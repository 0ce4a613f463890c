import type { Case } from "../case.ts";
import { admissionCases } from "./admission.ts";
import { bodyCases } from "./bodies.ts";
import { definitionCases } from "./definitions.ts";
import { deleteCases } from "./deletes.ts";
import { discoveryCases } from "./discovery.ts";
import { identityCases } from "./identity.ts";
import { kindCases } from "./kinds.ts";
import { limitRangeCases } from "./limit-ranges.ts";
import { listCases } from "./lists.ts";
import { namespaceCases } from "./namespaces.ts";
import { objectCases } from "./objects.ts";
import { applyCases, patchCases } from "./patches.ts";
import { quotaCases } from "./quotas.ts";
import { selectorCases } from "./selectors.ts";
import { serviceCases } from "./services.ts";
import { subresourceCases } from "./subresources.ts";
import { watchCases } from "./watches.ts";
import { workloadCases } from "./workloads.ts";

export const allCases: readonly Case[] = [
  ...discoveryCases,
  ...objectCases,
  ...bodyCases,
  ...selectorCases,
  ...serviceCases,
  ...listCases,
  ...watchCases,
  ...deleteCases,
  ...patchCases,
  ...applyCases,
  ...namespaceCases,
  ...subresourceCases,
  ...identityCases,
  ...definitionCases,
  ...admissionCases,
  ...kindCases,
  ...quotaCases,
  ...limitRangeCases,
  ...workloadCases,
];
