import type { Case } from "../case.ts";
import { kindCases } from "./kinds.ts";

export const allCases: readonly Case[] = [...kindCases];
