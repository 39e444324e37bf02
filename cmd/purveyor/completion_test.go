package main

import (
	"slices"
	"strings"
	"testing"

	"purveyor/internal/config"
)

func TestCompletion(t *testing.T) {
	root := newParser(new(cli), &config.Sources{}).Model.Node
	for line, want := range map[string]string{
		"exp":                           "export",
		"order pi":                      "picked-up",
		"order c":                       "confirm cancel",
		"--log-level debug order sh":    "show",
		"order list --mo":               "--mode",
		"order list --mode ":            "live test",
		"order list --mode = t":         "test", // as bash takes it apart
		"order list --mode =":           "live test",
		"order list --mode=l":           "--mode=live",
		"order list --mode live --mo":   "",
		"order list --limit ":           "", // any number
		"order list --json --jso":       "",
		"order show --reason":           "",
		"--config ":                     anyFile,
		"--config=/etc/":                anyFile,
		"import --dry-run ":             anyFile,
		"import shop.json ":             "",
		"backup --to ":                  anyDir,
		"backup --ke":                   "--keep",
		"backup v":                      "verify",
		"partner create --scope a --sc": "--scope", // may be repeated
		"partner create -- --sco":       "",
		"completion words -- --lo":      "",
		"nonsense ":                     "serve",
	} {
		words := strings.Split(line, " ")
		var got []string
		for _, c := range completed(root, words) {
			got = append(got, c.word)
		}
		if line == "nonsense " {
			got = got[:min(len(got), 1)]
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for _, c := range completed(root, []string{"order", "cancel", "--rea"}) {
		if !strings.Contains(c.means, "history") {
			t.Errorf("%s means %q", c.word, c.means)
		}
	}
	if all := completed(root, nil); len(all) < 20 {
		t.Errorf("without a word: %v", all)
	}
}
