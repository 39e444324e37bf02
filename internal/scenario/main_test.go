package scenario

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected answers in testdata")

// TestMain checks at the end that every operation and status of the document was
// exercised, unless only some of the tests ran.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "40"); err != nil { // unless the command line says otherwise
		panic(err)
	}
	flag.Parse()
	slog.SetDefault(slog.New(logged))
	code := m.Run()
	if code == 0 && wholeRun() {
		if missing := theContract().unmet(); len(missing) > 0 {
			fmt.Printf("openapi.yaml promises what no test has met:\n  %s\n", strings.Join(missing, "\n  "))
			code = 1
		}
	}
	os.Exit(code)
}

func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
