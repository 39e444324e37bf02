// Package internal holds the tests that are about all packages: which may
// import which.
package internal

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "purveyor/internal/"

// arrows lists what each package may import inside the module. cmd, e2e and
// bench are not below internal and may import everything.
var arrows = map[string][]string{
	"commerce":                  {},
	"config":                    {"nearest"},
	"certificate":               {"env"},
	"backup":                    {},
	"env":                       {},
	"sweep":                     {"env", "commerce"},
	"demo":                      {},
	"jsonin":                    {"commerce"},
	"command":                   {"commerce"},
	"certify":                   {"commerce"},
	"certify/report":            {},
	"storage":                   {"commerce", "storage/schema"},
	"storage/schema":            {"commerce"},
	"storage/reads":             {"storage", "storage/schema", "commerce"},
	"storage/sqlite":            {"storage", "storage/reads", "storage/schema", "commerce"},
	"storage/batchget":          {},
	"storage/postgres":          {"storage", "storage/batchget", "storage/reads", "storage/schema", "commerce"},
	"storage/storagetest":       {"storage", "storage/schema", "storage/schema/schematest", "commerce"},
	"storage/schema/schematest": {"storage/schema", "commerce"},
	"commit":                    {"commerce", "storage", "storage/schema", "env", "tracing"},
	"metrics":                   {"commerce", "env", "jobs", "outside/courier", "outside/webhook", "storage"},
	"web":                       {"commerce", "env", "tracing"},
	"requestlog":                {"commerce", "env"},
	"requestlog/sqlitelog":      {"commerce", "requestlog"},
	"requestlog/postgreslog":    {"commerce", "requestlog"},
	"requestlog/requestlogtest": {"commerce", "env", "requestlog"},
	"nearest":                   {},
	"importfile":                {"commerce", "command", "jsonin", "nearest"},
	"jobs":                      {"commerce", "storage", "env", "tracing"},
	"effect":                    {"certify", "commerce", "requestlog", "service", "command", "jobs", "storage", "outside/webhook", "outside/mail", "outside/sms", "outside/payment", "outside/courier", "outside/geocode", "outside/sandbox", "env", "tracing"},
	"outside/webhook":           {"commerce", "outside/httpcall", "env"},
	"outside/mail":              {"commerce", "env"},
	"outside/sms":               {"commerce", "outside/httpcall", "env"},
	"outside/watch":             {"commerce", "tracing"},
	"outside/httpcall":          {"tracing"},
	"tracing":                   {},
	"outside/payment":           {"commerce", "outside/httpcall", "outside/sandbox", "outside/watch", "env"},
	"outside/sandbox":           {"env"},
	"outside/geocode":           {"commerce", "outside/httpcall", "outside/geocode/gazetteer", "env"},
	"outside/geocode/gazetteer": {"commerce"},
	"outside/geocode/gen":       {"commerce", "outside/geocode/gazetteer"},
	"productcsv":                {"commerce", "command", "jsonin", "nearest"},
	"service":                   {"certify", "commerce", "command", "commit", "importfile", "productcsv", "storage", "storage/schema", "outside/courier", "outside/geocode", "outside/payment", "outside/sandbox", "env"},
	"inbound":                   {"web", "commerce", "service", "outside/payment", "outside/courier", "outside/sandbox", "env"},
	"api":                       {"web", "api/wire", "certify", "jsonin", "commerce", "requestlog", "service", "storage", "env"},
	"api/wire":                  {"commerce"},
	"signin":                    {"commerce", "env"},
	"site":                      {"site/chart", "site/ui", "commerce", "env", "requestlog", "service", "storage", "web"},
	"portal":                    {"certify", "site", "commerce", "env", "requestlog", "service", "storage", "web"},
	"backoffice":                {"site", "site/chart", "maps", "site/ui", "jsonin", "productcsv", "web", "commerce", "requestlog", "service", "storage", "signin", "env"},
	"site/ui":                   {"web"},
	"site/chart":                {},
	"maps":                      {"commerce"},
	"devdocs":                   {"devdocs/openapi", "devdocs/sample", "env", "web"},
	"tracking":                  {"commerce", "env", "maps", "service", "web"},
	"devdocs/openapi":           {},
	"devdocs/sample":            {"devdocs/openapi"},
	"scenario":                  {"api", "requestlog", "requestlog/sqlitelog", "requestlog/postgreslog", "jobs", "inbound", "service", "effect", "outside/payment", "outside/courier", "outside/geocode", "outside/sandbox", "tracking", "web", "commerce", "command", "commit", "storage", "storage/sqlite", "storage/postgres", "env"},
	"simulation":                {"api", "api/wire", "command", "commerce", "commit", "effect", "env", "inbound", "jobs", "outside/courier", "outside/geocode", "outside/mail", "outside/payment", "outside/sandbox", "outside/webhook", "service", "storage", "storage/postgres", "storage/schema", "storage/sqlite", "sweep", "testkit/faultproxy", "testkit/fixture", "testkit/memory", "testkit/parallel", "testkit/sim", "web"},
	"outside/courier":           {"commerce", "outside/httpcall", "outside/sandbox", "outside/watch", "env"},

	"testkit/browser":      {},
	"testkit/check":        {},
	"testkit/couriertest":  {"commerce", "outside/courier"},
	"testkit/database":     {"storage", "storage/sqlite", "storage/postgres", "storage/storagetest", "testkit/pg"},
	"testkit/office":       {"commerce", "service"},
	"testkit/memory":       {"commerce", "env", "storage", "storage/schema", "storage/storagetest"},
	"testkit/sim":          {"env"},
	"testkit/fakedoordash": {},
	"testkit/history":      {},
	"testkit/fixture":      {"command", "commerce", "commit", "storage", "storage/schema", "api/wire"},
	"testkit/fakesandbox":  {"outside/sandbox"},
	"testkit/fakestripe":   {},
	"testkit/fakeuber":     {},
	"testkit/faultproxy":   {},
	"testkit/parallel":     {"env", "testkit/sim"},
	"testkit/paymenttest":  {"commerce", "outside/payment"},
	"testkit/pg":           {"testkit/port"},
	"testkit/port":         {},
}

// pure packages do no I/O, read no clock, draw nothing and know no wire format, and
// neither does a package of the module that they import.
var pure = []string{"commerce", "command", "certify", "site/chart", "maps"}

// Of package time they use the types alone: TestPureTime.
var impure = []string{"os", "io", "io/fs", "net", "net/http", "crypto/rand", "math/rand", "math/rand/v2", "log", "log/slog",
	"database/sql", "syscall", "context", "sync",
	"encoding/json", "encoding/json/v2", "encoding/json/jsontext", "github.com/go-json-experiment/json", "github.com/go-json-experiment/json/jsontext"}

type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...", "../cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, path := range p.Imports {
			if strings.HasPrefix(path, module+"testkit/") && !strings.HasPrefix(p.ImportPath, module+"testkit/") && p.ImportPath != module+"simulation" {
				t.Errorf("%s imports %s outside of its tests", p.ImportPath, path)
			}
		}
		name, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			continue // this package and cmd
		}
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s is not in the table of arrows", name)
		}
		for _, path := range p.Imports {
			if inside, ok := strings.CutPrefix(path, module); ok && !slices.Contains(allowed, inside) {
				t.Errorf("%s imports %s", name, inside)
			}
		}
		imports[p.ImportPath] = p.Imports
		used := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		for _, arrow := range allowed {
			if !slices.Contains(used, module+arrow) {
				t.Errorf("%s may import %s and does not: take the arrow out of the table", name, arrow)
			}
		}
	}
	for _, name := range pure {
		for _, reached := range reachedFrom(module+name, imports) {
			for _, path := range imports[reached] {
				if slices.Contains(impure, path) {
					t.Errorf("%s is pure and %s imports %s", name, reached, path)
				}
			}
		}
	}
}

// reachedFrom are the packages of the module that a package needs, itself included.
func reachedFrom(path string, imports map[string][]string) []string {
	list := []string{path}
	for i := 0; i < len(list); i++ {
		for _, next := range imports[list[i]] {
			if strings.HasPrefix(next, module) && !slices.Contains(list, next) {
				list = append(list, next)
			}
		}
	}
	return list
}
