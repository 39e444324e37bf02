// Takes a job as the body of a request, and answers with its outcomes.
import { run } from "./run.mjs";

export default {
  async fetch(request) {
    return Response.json(await run(await request.json()));
  },
};
