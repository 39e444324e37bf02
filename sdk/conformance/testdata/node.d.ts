// What the example uses of Node, in place of @types/node.
declare module "node:fs" {
  export function existsSync(path: string): boolean;
  export function fsyncSync(file: number): void;
  export function ftruncateSync(file: number, length: number): void;
  export function openSync(path: string, flags: string, mode: number): number;
  export function readFileSync(path: string): Buffer;
  export function writeSync(file: number, text: string): number;
}
declare module "node:http" {
  export interface IncomingMessage extends AsyncIterable<Uint8Array> { method?: string; url?: string; headers: Record<string, string | string[] | undefined> }
  interface ServerResponse { writeHead(status: number): ServerResponse; end(text?: string): void }
  export function createServer(handle: (request: IncomingMessage, response: ServerResponse) => void): { listen(port: number, host?: string): void };
}
declare module "node:util" {
  export function parseArgs(config: { options: Record<string, { type: "string"; default: string }> }): { values: Record<string, string | undefined> };
}
declare const process: { env: Record<string, string | undefined>; exit(code: number): never };
interface Buffer extends Uint8Array { lastIndexOf(text: string | number): number; subarray(from: number, to: number): Buffer; toString(): string }
declare const Buffer: { alloc(size: number): Buffer; concat(parts: Uint8Array[]): Buffer };
