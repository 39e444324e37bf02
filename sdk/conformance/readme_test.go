package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// blocks returns the samples of a README: the first one is a program, and the others need
// what prelude declares.
func blocks(t *testing.T, path, language string) (program string, others []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	check.OK(t, err)
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(found) < 4 {
		t.Fatalf("%s has only %d samples", path, len(found))
	}
	for _, match := range found[1:] {
		others = append(others, match[1])
	}
	return found[0][1], others
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		check.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
}

// runProgram runs the first program of a README against a service.
func runProgram(t *testing.T, folder string, args ...string) {
	t.Helper()
	w := newWorld(t, readTable(t).Catalog)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "PURVEYOR_URL="+w.base, "PURVEYOR_KEY="+w.key, "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "ord_") || !strings.HasSuffix(string(out), " processed\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

const goPrelude = `package samples

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	purveyor "purveyor/sdk/go"
)

func queue(purveyor.ReportRequest) error    { return nil }
func handle(purveyor.WebhookEvent) error    { return nil }
func save(string)                           {}
func store(purveyor.Product)                {}
`

func TestReadmeOfGo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	sdk, err := filepath.Abs("../go")
	check.OK(t, err)
	folder := t.TempDir()
	main, others := blocks(t, "../go/README.md", "go")
	check.OK(t, os.Mkdir(filepath.Join(folder, "samples"), 0o755))
	write(t, folder, map[string]string{"main.go": main, "samples/samples.go": goPrelude + strings.Join(others, "\n"),
		"go.mod": "module example\n\ngo 1.24\n\nrequire purveyor/sdk/go v1.0.0\n\nreplace purveyor/sdk/go v1.0.0 => " + sdk + "\n"})
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = folder
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	runProgram(t, folder, "go", "run", ".")
}

const tsPrelude = `import { Purveyor, PurveyorError, type Product, type ReportRequest, type ReportReply, type WebhookEvent, Webhooks } from "purveyor-sdk";

declare const process: { env: { [name: string]: string | undefined } };
declare const client: Purveyor;
declare function queue(order: ReportRequest): Promise<ReportReply>;
declare function handle(event: WebhookEvent): Promise<void>;
declare function save(cursor: string): Promise<void>;
declare function store(product: Product): Promise<void>;
export { report, hook, follow, copyCatalog, watch };
`

const tsConfig = `{"compilerOptions": {"target": "ES2022", "lib": ["ES2022", "DOM"], "types": [], "module": "NodeNext", "strict": true, "exactOptionalPropertyTypes": true, "noImplicitReturns": true},
 "files": ["main.ts", "samples.ts"]}`

func TestReadmeOfTypeScript(t *testing.T) {
	folder := compileTypeScript(t)
	main, others := blocks(t, "../typescript/README.md", "ts")
	write(t, folder, map[string]string{"main.ts": main + "\ndeclare const process: { env: { [name: string]: string | undefined } };\n",
		"samples.ts": tsPrelude + strings.Join(others, "\n"), "tsconfig.json": tsConfig, "package.json": `{"type": "module"}`})
	tsc(t, "-p", folder)
	runProgram(t, folder, "node", "main.js")
}
