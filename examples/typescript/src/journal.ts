import { existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * A database in one file: each change is a line of JSON that is on the disk before append returns.
 * What the lines say together is the state.
 */
export class Journal {
  #file: number;

  /**
   * Reads the lines of a file, which it makes if there is none. A last line that is not whole was
   * being written when the program died; its change was not made.
   */
  constructor(path: string, line: (change: unknown) => void) {
    const text = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    const whole = text.lastIndexOf("\n") + 1;
    for (const change of text.subarray(0, whole).toString().split("\n")) {
      if (change !== "") {
        line(JSON.parse(change));
      }
    }
    this.#file = openSync(path, "a", 0o600);
    ftruncateSync(this.#file, whole);
  }

  /**
   * Writes a change. After an error the program must end, since it is unknown what the disk has. It
   * begins again with what is there.
   */
  append(change: unknown): void {
    writeSync(this.#file, JSON.stringify(change) + "\n");
    fsyncSync(this.#file);
  }
}
