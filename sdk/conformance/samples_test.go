package conformance_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/devdocs/openapi"
	"purveyor/internal/devdocs/sample"
	"purveyor/internal/testkit/check"
)

// samples are the calls that the documentation shows: of each operation that needs a key, with
// each example of its body.
func samples(s *shop) (list []sample.Call) {
	for _, o := range s.document.Operations {
		if o.Keyless() {
			continue
		}
		bodies := []openapi.Example{{}}
		if o.Body != nil {
			if content, ok := o.Body.Content.Of("application/json"); ok && len(content.Named()) > 0 {
				bodies = content.Named()
			}
		}
		for _, body := range bodies {
			list = append(list, sample.Call{Document: s.document, Operation: o, Base: s.URL, Body: body.Value})
		}
	}
	return list
}

// TestSamplesInCurl runs the lines of the documentation in a shell. The service is asked for
// what the examples of the API document say.
func TestSamplesInCurl(t *testing.T) {
	s := openShop(t)
	for _, c := range samples(s) {
		if out, err := exec.Command("sh", "-c", sample.Curl(c)+" -sS --fail-with-body").CombinedOutput(); err != nil {
			t.Errorf("%s\n%v: %s", sample.Curl(c), err, out)
		}
		compare(t, c, s.take(), c.Body, sample.Key)
	}
}

// TestSamplesInGo compiles and runs the samples for the SDK. They are formatted as gofmt does.
func TestSamplesInGo(t *testing.T) {
	s := openShop(t)
	calls := samples(s)
	var program strings.Builder
	program.WriteString("package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"os\"\n\n\t\"purveyor/sdk/go\"\n)\n\nvar calls = []func(context.Context) error{\n")
	for _, c := range calls {
		code := sample.Go(c)
		if code == "" {
			t.Errorf("there is no sample of %s: name its method in internal/devdocs/sample/methods.go", c.Operation.ID)
		}
		program.WriteString("func(ctx context.Context) error {\n" + code + "return nil\n},\n")
		if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
			t.Errorf("%v: gofmt makes this of the sample:\n%s", err, formatted)
		}
	}
	program.WriteString("}\n\nfunc main() {\n\tfor i, call := range calls {\n\t\tif err := call(context.Background()); err != nil {\n\t\t\tfmt.Fprintln(os.Stderr, i, err)\n\t\t}\n\t}\n}\n")
	runGo(t, program.String(), "PURVEYOR_KEY=sk_test_1")
	compareAll(t, calls, s.take())
}

// runGo runs a program that uses the SDK, and returns its output.
func runGo(t *testing.T, program string, env ...string) string {
	t.Helper()
	folder := t.TempDir()
	sdk, err := filepath.Abs("../go")
	check.OK(t, err)
	check.OK(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module samples\n\ngo 1.24\n\nrequire purveyor/sdk/go v0.0.0\n\nreplace purveyor/sdk/go => "+sdk+"\n"), 0o600))
	check.OK(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o600))
	run := exec.CommandContext(t.Context(), "go", "run", ".")
	run.Dir, run.Env = folder, append(append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"), env...)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestDocumentationInTypeScript compiles and runs what the documentation shows.
func TestDocumentationInTypeScript(t *testing.T) {
	folder := compileTypeScript(t)
	t.Run("samples", func(t *testing.T) { samplesInTypeScript(t, folder) })
	t.Run("sync", func(t *testing.T) { syncInTypeScript(t, folder) })
	t.Run("webhooks", func(t *testing.T) { webhooksInTypeScript(t, folder) })
}

// samplesInTypeScript compiles the samples for the SDK, and runs them with Node.
func samplesInTypeScript(t *testing.T, folder string) {
	s := openShop(t)
	calls := samples(s)
	all := ""
	names := []string{node(t, folder)}
	for i, c := range calls {
		code := sample.TypeScript(c)
		if code == "" {
			t.Errorf("there is no sample of %s", c.Operation.ID)
		}
		names = append(names, fmt.Sprintf("sample%d.ts", i))
		check.OK(t, os.WriteFile(filepath.Join(folder, names[i+1]), []byte(code), 0o600))
		all += fmt.Sprintf("await import(\"./sample%d.js\");\n", i)
	}
	check.OK(t, os.WriteFile(filepath.Join(folder, "all.mjs"), []byte(all), 0o600))
	compileSamples(t, folder, names)
	run := exec.CommandContext(t.Context(), "node", "all.mjs")
	run.Dir, run.Env = folder, append(os.Environ(), "PURVEYOR_KEY=sk_test_1")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compareAll(t, calls, s.take())
}

// node writes the types of what samples use of Node.
func node(t *testing.T, folder string) string {
	t.Helper()
	check.OK(t, os.WriteFile(filepath.Join(folder, "node.d.ts"), []byte("declare const process: { env: Record<string, string | undefined> };\n"), 0o600))
	check.OK(t, os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"type": "module"}`), 0o600))
	return "node.d.ts"
}

// compileSamples compiles programs that use the SDK, as strictly as the compiler can.
func compileSamples(t *testing.T, folder string, names []string) {
	t.Helper()
	config, err := json.Marshal(map[string]any{"files": names, "compilerOptions": map[string]any{"target": "es2022", "module": "nodenext",
		"moduleResolution": "nodenext", "lib": []string{"es2023", "dom"}, "types": []string{}, "strict": true, "moduleDetection": "force"}})
	check.OK(t, err)
	check.OK(t, os.WriteFile(filepath.Join(folder, "tsconfig.json"), config, 0o600))
	tsc(t, "-p", folder)
}

// compareAll checks that each call made one request.
func compareAll(t *testing.T, calls []sample.Call, requests []sent) {
	t.Helper()
	if len(requests) != len(calls) {
		t.Fatalf("%d requests of %d samples", len(requests), len(calls))
	}
	for i, c := range calls {
		body := c.Body
		if members := body.Members(); len(members) == 1 && members[0].Name == "product" { // the SDK unwraps it
			body = members[0].Value
		}
		compare(t, c, requests[i:i+1], body, "sk_test_1")
	}
}

// compare checks that a call made the request that the API document shows.
func compare(t *testing.T, c sample.Call, requests []sent, body openapi.Value, key string) {
	t.Helper()
	if len(requests) != 1 {
		t.Errorf("%s: %d requests", c.Operation.ID, len(requests))
		return
	}
	got := requests[0]
	if got.method != c.Operation.Method || got.key != key || c.IdempotencyKey() != "" && got.idempotencyKey != c.IdempotencyKey() {
		t.Errorf("%s: %+v", c.Operation.ID, got)
	}
	if uri := strings.ReplaceAll(got.uri, "%2C", ","); uri != c.Path()+c.Query() {
		t.Errorf("%s: %s, not %s", c.Operation.ID, uri, c.Path()+c.Query())
	}
	var want any
	if !body.IsZero() {
		check.OK(t, json.Unmarshal([]byte(body.Line()), &want))
	}
	empty := map[string]any{}
	if (want == nil || reflect.DeepEqual(want, empty)) && (got.body == nil || reflect.DeepEqual(got.body, empty)) { // an optional body
		return
	}
	if !reflect.DeepEqual(withoutNull(got.body), withoutNull(want)) {
		t.Errorf("%s: the body is\n%v, not\n%v", c.Operation.ID, got.body, want)
	}
}

// withoutNull takes members that are null out of objects: an SDK leaves them out.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member != nil {
				out[name] = withoutNull(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNull(item)
		}
		return out
	}
	return v
}
