/**
 * Ranges over the entries of all pages of a list. `read` asks for the page at a cursor, and `entries` takes
 * them out of it.
 */
export async function* pages<Page extends { next_cursor?: string | null }, Entry>(
  read: (cursor: { cursor?: string }) => Promise<Page>, entries: (page: Page) => Entry[],
): AsyncGenerator<Entry, void, undefined> {
  for (let cursor: string | undefined | null; ; ) {
    const page = await read(cursor ? { cursor } : {});
    yield* entries(page);
    cursor = page.next_cursor;
    if (!cursor) {
      return;
    }
  }
}
