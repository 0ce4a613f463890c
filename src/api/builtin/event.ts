/** Events: what happened to an object, for `kubectl describe` and `kubectl get events`. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { dateTime, integer, optional, string } from "../../kube/schema/build.ts";
import { objectReference } from "../reference.ts";
import { openObject } from "./open-object.ts";

const source = openObject({ component: optional(string()), host: optional(string()) });

export const Event = defineKind({
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  description: "Something that happened to an object.",
  fields: {
    involvedObject: objectReference("The object that it happened to."),
    reason: optional(string()),
    message: optional(string()),
    type: optional(string()),
    source: optional(source),
    count: optional(integer()),
    firstTimestamp: optional(dateTime({ nullable: true })),
    lastTimestamp: optional(dateTime({ nullable: true })),
    eventTime: optional(dateTime({ nullable: true })),
    series: optional(openObject({ count: optional(integer()), lastObservedTime: optional(dateTime()) })),
    action: optional(string()),
    related: optional(objectReference("Another object that took part.")),
    reportingComponent: optional(string()),
    reportingInstance: optional(string()),
  },
});
export type Event = ResourceOf<typeof Event>;

/** The same objects through the newer API group, in which repeated events are counted in a series. */
export const SeriesEvent = defineKind({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  description: "Something that happened to an object.",
  fields: {
    regarding: optional(objectReference("The object that it happened to.")),
    reason: optional(string()),
    note: optional(string()),
    type: optional(string()),
    eventTime: optional(dateTime({ nullable: true })),
    series: optional(openObject({ count: integer(), lastObservedTime: dateTime() })),
    action: optional(string()),
    related: optional(objectReference("Another object that took part.")),
    reportingController: optional(string()),
    reportingInstance: optional(string()),
    deprecatedCount: optional(integer()),
    deprecatedFirstTimestamp: optional(dateTime()),
    deprecatedLastTimestamp: optional(dateTime()),
    deprecatedSource: optional(source),
  },
});
export type SeriesEvent = ResourceOf<typeof SeriesEvent>;
