package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/port"
)

// generators is set by the full run of scripts/test. Loading the generators takes a while.
const generators = "PURVEYOR_TEST_GENERATORS"

// TestGenerators makes clients from the description of a running service, with four
// generators. They compile, and a program with each lists stores and products, reports an
// order, follows the events and verifies a webhook. Two linters find nothing.
func TestGenerators(t *testing.T) {
	if os.Getenv(generators) == "" {
		t.Skip("scripts/test full runs the code generators")
	}
	g := newGenerating(t)
	g.run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
	t.Run("linters", func(t *testing.T) {
		g := g.with(t)
		if out := g.run("npx", "redocly", "lint", "openapi.yaml"); strings.Contains(out, "Warning was generated") {
			t.Error(out)
		}
		g.run("npx", "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "warn", "openapi.yaml", "openapi.json")
	})
	g.run("npx", "openapi-typescript", "openapi.yaml", "--output", "made/openapi-typescript.ts")
	g.run("npx", "openapi-ts", "--input", "openapi.json", "--output", "made/hey-api", "--client", "@hey-api/client-fetch")
	g.run("npx", "orval", "--config", "orval.config.ts")
	g.run("npx", "tsc")
	for _, name := range []string{"openapi-typescript", "hey-api", "orval"} {
		t.Run(name, func(t *testing.T) { g.with(t).program(name, "npx", "tsx", name+".ts") })
	}
	t.Run("oapi-codegen", func(t *testing.T) {
		g := g.with(t)
		g.folder = filepath.Join(g.folder, "go")
		check.OK(t, os.Mkdir(filepath.Join(g.folder, "purveyor"), 0o755))
		g.run("go", "mod", "init", "example")
		g.run("go", "run", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2", "-generate", "types,client", "-package", "purveyor",
			"-o", "purveyor/purveyor.go", "../openapi.yaml")
		g.run("go", "get", "github.com/oapi-codegen/runtime@v1.9.0")
		g.run("go", "vet", "./...")
		g.program("oapi-codegen", "go", "run", ".")
	})
}

// generating is a folder with a copy of testdata/generators, and a service whose webhooks
// go to a port on which the programs listen.
type generating struct {
	t      *testing.T
	folder string
	env    []string
}

func newGenerating(t *testing.T) generating {
	t.Helper()
	g := generating{t: t, folder: t.TempDir()}
	check.OK(t, os.CopyFS(g.folder, os.DirFS("testdata/generators")))
	check.OK(t, os.WriteFile(filepath.Join(g.folder, "spectral.yaml"), []byte(`extends: ["spectral:oas"]`), 0o600))
	rules, err := os.ReadFile("../redocly.yaml")
	check.OK(t, err)
	check.OK(t, os.WriteFile(filepath.Join(g.folder, "redocly.yaml"), rules, 0o600))

	const secret = "whsec_c2l4dGVlbiBieXRlcyBvaw=="
	port := freePort(t)
	s := newShop(t)
	s.operate("partner", "update", s.partner.PartnerID, "--callback-url", fmt.Sprintf("http://127.0.0.1:%d/", port), "--callback-secret", secret).ok(t)
	_, partner := s.serve("--allow-private-webhooks")
	for _, name := range []string{"openapi.yaml", "openapi.json"} {
		check.OK(t, os.WriteFile(filepath.Join(g.folder, name), partner.must(200, get("/"+name)).body, 0o600))
	}
	g.env = environment("GOFLAGS=-mod=mod", "GOWORK=off", "BASE_URL="+partner.base, "API_KEY="+s.partner.Keys.Live, "PORT="+strconv.Itoa(port), "SECRET="+secret)
	return g
}

func (g generating) with(t *testing.T) generating {
	g.t = t
	return g
}

// run runs a command in the folder, and returns what it prints.
func (g generating) run(args ...string) string {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = g.folder, g.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("%s (this test needs node, npm and the registries of npm and Go): %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// program runs one of the programs. It prints the number of stores and of the products of
// the first store.
func (g generating) program(order string, args ...string) {
	g.t.Helper()
	g.env = slices.Concat(g.env, []string{"ORDER=" + order})
	if out := g.run(args...); !bytes.Contains([]byte(out), []byte("2 5 ord_")) {
		g.t.Errorf("%s: %s", order, out)
	}
}

// freePort returns a port for a program that is to listen on it.
func freePort(t *testing.T) int {
	t.Helper()
	free, err := port.Free()
	check.OK(t, err)
	return free
}
