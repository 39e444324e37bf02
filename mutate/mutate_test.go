package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMeasure: the mutants of a small package, those that its test sees, and what becomes of
// the others with and without a reason.
func TestMeasure(t *testing.T) {
	m, err := mutate("./testdata/shop", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all := options{only: regexp.MustCompile("")}
	outcomes, err := tryAll(m, []suite{{path: "./testdata/shop"}}, all, newHints(filepath.Join(t.TempDir(), "hints.json")))
	if err != nil {
		t.Fatal(err)
	}
	run := func(lines string) (string, bool) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "shop.txt")
		reasons, err := readSurvivors(path)
		if err != nil || len(reasons) != 0 {
			t.Fatalf("without a file: %v, %v", reasons, err)
		}
		if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
		if reasons, err = readSurvivors(path); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		ok := report(&out, outcomes, reasons, all.only)
		return out.String(), ok
	}
	const boundary, note = "Sell\tpieces > stock => pieces >= stock", "Sell\tNote: notes[0] => zero"
	const texts = "text\t" + note + "\tfor people\ntext\tSell\t0 => 0 + 1\tfor people\n"
	out, ok := run("")
	for _, want := range []string{
		"survives: shop.go:15\t" + boundary + "\n", "survives: shop.go:20\t" + note + "\n",
		"9 mutants, 1 not covered, 8 covered: 5 killed, 0 timed out, 3 survive (0 equivalent, 0 speed, 0 text, 3 without a reason)\n", "score: 62.5 %",
	} {
		if !strings.Contains(out, want) || ok {
			t.Errorf("%v, without %q:\n%s", ok, want, out)
		}
	}
	out, ok = run("# Comment\nequivalent\t" + boundary + "\tso it is\n\n" + texts)
	if !strings.Contains(out, "3 survive (1 equivalent, 0 speed, 2 text, 0 without a reason)") || !strings.Contains(out, "score: 71.4 %") || !ok {
		t.Errorf("%v:\n%s", ok, out)
	}
	out, ok = run("equivalent\t" + boundary + "\tso it is\n" + texts + "speed\tSell\tpieces > stock => pieces <= stock\tit is killed\n")
	if !strings.Contains(out, "has a reason, and does not survive: Sell\tpieces > stock => pieces <= stock") || ok {
		t.Errorf("%v:\n%s", ok, out)
	}
}

func TestSurvivorsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.txt")
	for _, line := range []string{"equivalent\tF\ta => b", "equivalent\tF\ta => b\t", "dull\tF\ta => b\tso it is", "equivalent F a => b so it is"} {
		if err := os.WriteFile(path, []byte(line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readSurvivors(path); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
}

func TestPatterns(t *testing.T) {
	for want, names := range map[string][]string{"^(TestA|TestB)$": {"TestA", "TestB"}, `^TestA$/^x\.y$/^(z)$`: {"TestA/x.y/z"}} {
		if got := pattern(names...); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
