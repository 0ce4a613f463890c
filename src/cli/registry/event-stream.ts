import { LineSplitter } from "../../client/line-splitter.ts";

/** One frame of Server-Sent Events. One without data only moves the reader's place: the registry's bookmark. */
export interface StreamFrame {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

/** Reads frames as the HTML standard has them; comments are passed over, and a frame that the end cuts off is dropped. */
export async function* readFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamFrame> {
  const lines = new LineSplitter(maxLineBytes);
  let id: string | undefined;
  let event = "";
  let data: string[] = [];
  for await (const chunk of body) {
    lines.push(chunk);
    for (let bytes = lines.next(); bytes !== undefined; bytes = lines.next()) {
      if (bytes === "TooLong") throw new RangeError(`the registry sent a line of more than ${maxLineBytes} bytes`);
      const line = decoder.decode(bytes).replace(/\r$/, "");
      if (line === "") {
        if (id !== undefined || data.length > 0)
          yield { ...(id !== undefined && { id }), event: event === "" ? "message" : event, data: data.join("\n") };
        id = undefined;
        event = "";
        data = [];
        continue;
      }
      const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "id") id = value;
      else if (field === "event") event = value;
      else if (field === "data") data.push(value);
    }
  }
}

const maxLineBytes = 1024 * 1024;
const decoder = new TextDecoder();
