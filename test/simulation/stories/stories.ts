import type { Story } from "../story.ts";
import { actions } from "./actions.ts";
import { approvals } from "./approvals.ts";
import { classes } from "./classes.ts";
import { servers } from "./servers.ts";
import { services } from "./services.ts";
import { worlds } from "./worlds.ts";

export const stories: readonly Story[] = [worlds, classes, actions, approvals, services, servers];
