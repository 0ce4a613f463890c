// Closes a test run with the line that people and CI read: `N passed, N failed, N skipped`.
interface TestEvent {
  readonly type: string;
  readonly data: { readonly skip?: unknown; readonly details?: { readonly type?: string }; readonly name?: string };
}

export default async function* summary(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for await (const event of events) {
    if (event.data?.details?.type === "suite") continue;
    if (event.type === "test:pass") {
      if (event.data.skip !== undefined && event.data.skip !== false) count.skipped++;
      else count.passed++;
    }
    if (event.type === "test:fail") count.failed++;
  }
  yield `\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`;
}
