import { type Parsed, parsed, refused } from "../kube/parsed.ts";

/** Answers the object in the wanted apiVersion; throws when it cannot be expressed there. */
export type Conversion = (
  object: Readonly<Record<string, unknown>>,
  apiVersion: string,
) => Readonly<Record<string, unknown>>;

/** ConversionReview `apiextensions.k8s.io/v1`: all objects or none. */
export function convertReview(value: unknown, convert: Conversion): Parsed<unknown> {
  if (!isRecord(value) || value["kind"] !== "ConversionReview") return refused('kind: not a "ConversionReview"');
  if (value["apiVersion"] !== "apiextensions.k8s.io/v1") {
    return refused(`apiVersion: ${JSON.stringify(value["apiVersion"])} is not "apiextensions.k8s.io/v1"`);
  }
  const request = value["request"];
  if (!isRecord(request)) return refused("request: Required value");
  const { uid, desiredAPIVersion, objects } = request;
  if (typeof uid !== "string" || uid === "") return refused("request.uid: Required value");
  if (typeof desiredAPIVersion !== "string") return refused("request.desiredAPIVersion: Required value");
  if (!Array.isArray(objects)) return refused("request.objects: Required value");
  const answer = (response: object): Parsed<unknown> =>
    parsed({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response: { uid, ...response } });
  const converted: unknown[] = [];
  for (const [index, object] of objects.entries()) {
    const problem = convertOne(object, desiredAPIVersion, convert, converted);
    if (problem !== undefined)
      return answer({ result: { status: "Failed", message: `objects[${index}]: ${problem}` } });
  }
  return answer({ result: { status: "Success" }, convertedObjects: converted });
}

function convertOne(object: unknown, apiVersion: string, convert: Conversion, into: unknown[]): string | undefined {
  if (!isRecord(object)) return "not an object";
  try {
    const converted = object["apiVersion"] === apiVersion ? object : convert(object, apiVersion);
    // A conversion may not touch who the object is; the server would refuse the whole list.
    into.push({ ...converted, apiVersion, kind: object["kind"], metadata: metadataOf(object, converted) });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Labels and annotations may change, everything else of the metadata is the original's. */
function metadataOf(from: Readonly<Record<string, unknown>>, to: Readonly<Record<string, unknown>>): unknown {
  const original = isRecord(from["metadata"]) ? from["metadata"] : {};
  const { labels, annotations } = isRecord(to["metadata"]) ? to["metadata"] : {};
  const { labels: _labels, annotations: _annotations, ...rest } = original;
  return { ...rest, ...(labels !== undefined && { labels }), ...(annotations !== undefined && { annotations }) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
