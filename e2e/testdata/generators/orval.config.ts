export default {
  purveyor: {
    input: "openapi.yaml",
    output: { target: "made/orval.ts", client: "fetch", baseUrl: { getBaseUrlFromSpecification: true } },
  },
};
