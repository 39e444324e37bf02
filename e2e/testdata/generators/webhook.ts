import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

export const settings = {
  baseUrl: process.env["BASE_URL"]!,
  key: process.env["API_KEY"]!,
  order: process.env["ORDER"]!,
};

/** Takes webhooks, checks their signatures, and resolves with the first event that is wanted. */
export function firstEvent<E>(wanted: (event: E) => boolean): Promise<E> {
  const hook = new Webhook(process.env["SECRET"]!);
  return new Promise((resolve) => {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const event = hook.verify(Buffer.concat(parts), request.headers as Record<string, string>) as E;
        response.writeHead(204).end();
        if (wanted(event)) {
          resolve(event);
          server.close();
        }
      });
    });
    server.listen(Number(process.env["PORT"]), "127.0.0.1");
  });
}

export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}
