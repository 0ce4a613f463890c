// The long versions of the runtime's random tests: the same properties, many more runs.
process.env["CAPSTAN_PROPERTY_RUNS"] ??= "500";
await import("./queue.test.ts");
await import("./cache.test.ts");
await import("./write-faults.test.ts");
