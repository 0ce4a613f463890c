import type { Behaviour } from "../behaviour.ts";
import { ageOf, column, wide } from "../columns.ts";
import { toCoreEvent, toModernEvent } from "../convert-event.ts";
import { child, type Draft, finished, numeral, partsOf, text } from "../draft.ts";
import { validateCoreEvent, validateNewEvent, validateNewEventUpdate } from "../validation/events.ts";

/** Event, in its old and its new group: one kind of stored object in two spellings. */

type Read = (event: Draft, now: Date) => unknown;

const columnsFor = (asCore: (event: Draft) => Draft): Behaviour["columns"] => {
  const read =
    (cell: Read): Read =>
    (event, now) =>
      cell(asCore(event), now);
  return [
    column("Last Seen", read(lastSeen)),
    column(
      "Type",
      read((event) => text(event, "type")),
    ),
    column(
      "Reason",
      read((event) => text(event, "reason")),
    ),
    column("Object", read(objectText)),
    wide(
      "Subobject",
      read((event) => text(child(event, "involvedObject"), "fieldPath")),
    ),
    wide("Source", read(sourceText)),
    column(
      "Message",
      read((event) => text(event, "message").trim()),
    ),
    wide("First Seen", read(firstSeen)),
    wide("Count", read(countOf)),
    wide(
      "Name",
      read((event) => text(child(event, "metadata"), "name")),
      { format: "name" },
    ),
  ];
};

const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const sourceValue = (event: Draft): string =>
  text(child(event, "source"), "component") || text(event, "reportingComponent");

export const coreEvent: Behaviour = {
  validate: validateCoreEvent,
  allowCreateOnUpdate: true,
  selectableFields: [
    ...involved.map((field) => `involvedObject.${field}`),
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  fieldValues: { source: sourceValue },
  columns: columnsFor((event) => event),
};

export const newEvent: Behaviour = {
  validate: validateNewEvent,
  allowCreateOnUpdate: true,
  validateUpdate: validateNewEventUpdate,
  updateSkipsValidate: true,
  selectableFields: [...involved.map((field) => `regarding.${field}`), "reason", "reportingController", "type"],
  fieldValues: {
    ...Object.fromEntries(
      involved.map((field) => [`regarding.${field}`, (stored: Draft) => text(child(stored, "involvedObject"), field)]),
    ),
    reportingController: (stored) => text(stored, "reportingComponent"),
  },
  storedAs: {
    group: "",
    plural: "events",
    toStored: (object) => finished(toCoreEvent(partsOf(object))),
    fromStored: (object) => finished(toModernEvent(partsOf(object))),
  },
  columns: columnsFor(toCoreEvent),
};

function firstSeen(event: Draft, now: Date): string {
  return text(event, "firstTimestamp") === "" ? ageOf(event, "eventTime", now) : ageOf(event, "firstTimestamp", now);
}

function lastSeen(event: Draft, now: Date): string {
  const series = child(event, "series");
  if (series) return ageOf(series, "lastObservedTime", now);
  return text(event, "lastTimestamp") === "" ? firstSeen(event, now) : ageOf(event, "lastTimestamp", now);
}

function countOf(event: Draft): number {
  const series = child(event, "series");
  return series ? (numeral(series, "count") ?? 0) : numeral(event, "count") || 1;
}

function objectText(event: Draft): string {
  const target = child(event, "involvedObject");
  const kind = text(target, "kind").toLowerCase();
  return text(target, "name") === "" ? kind : `${kind}/${text(target, "name")}`;
}

function sourceText(event: Draft): string {
  const source = child(event, "source");
  const component = text(source, "component") || text(event, "reportingComponent");
  const instance = text(source, "host") || text(event, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}
