package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/config"

	"github.com/alecthomas/kong"
)

// helpFor is what --help prints for a command, on one line.
func helpFor(t *testing.T, command string) (text string) {
	t.Helper()
	var b bytes.Buffer
	parser := newParser(new(cli), &config.Sources{}, kong.Writers(&b, &b), kong.Exit(func(int) { panic(errExit) }))
	defer func() {
		if e := recover(); e != errExit {
			t.Fatal(e)
		}
		text = strings.Join(strings.Fields(b.String()), " ")
	}()
	_, _ = parser.Parse(append(strings.Fields(command), "--help"))
	return ""
}

// commandsOf are all commands that do something.
func commandsOf() []*kong.Node {
	return newParser(new(cli), &config.Sources{}).Model.Leaves(false)
}

// The help of every command shows all of its flags, their defaults and their themes, and at the
// end what all commands have.
func TestHelpOfEveryCommand(t *testing.T) {
	for _, command := range commandsOf() {
		name := command.Path()
		if command.Hidden {
			t.Errorf("%s is hidden", name)
		}
		text := helpFor(t, name)
		own, common, ok := strings.Cut(text, everywhere)
		if !ok || strings.Contains(own, "--log-level") || !strings.Contains(common, "--log-level") {
			t.Errorf("%s: what every command has is not at the end: %s", name, text)
		}
		for _, f := range command.Flags {
			if f.Group == nil && (f.Name == "database" || f.Name == "json") {
				t.Errorf("%s: --%s is in no group", name, f.Name)
			}
			shown := "--" + f.Name
			if f.HasDefault && f.Default != "" && f.Tag.PlaceHolder == "" && !f.IsBool() {
				shown += "=" + f.FormatPlaceHolder()
			}
			if f.Hidden || !strings.Contains(own, shown) || f.HasDefault && !f.IsBool() && !strings.Contains(own, f.Default) {
				t.Errorf("%s --help does not show %s, with its default %q", name, shown, f.Default)
			}
		}
		if len(command.Flags) > 7 && !slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool {
			return f.Group != nil && f.Group.Key != "Database:" && f.Group.Key != "Output:"
		}) {
			t.Errorf("%s has %d flags in one group", name, len(command.Flags))
		}
	}
}

// What lists prints JSON, too.
func TestEveryListPrintsJSON(t *testing.T) {
	lists := 0
	for _, command := range commandsOf() {
		if !strings.HasPrefix(command.Help, "List ") && command.Name != "list" {
			continue
		}
		lists++
		if !slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == "json" }) {
			t.Errorf("%s has no --json", command.Path())
		}
	}
	if lists < 9 {
		t.Errorf("only %d lists were found", lists)
	}
}

// A wrong command line gets one line with what was probably meant.
func TestFaultsOfTheCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"impotr":                    `unexpected argument impotr, did you mean "import"?`,
		"partner lst":               `unexpected argument lst, did you mean "list"?`,
		"import --databse x":        `unknown flag --databse, did you mean "--database"?`,
		"--databse x import":        `unknown flag --databse, did you mean "--database" behind its command?`,
		"order --resaon x":          `unknown flag --resaon, did you mean "--reason" behind its command?`,
		"order list -j":             `unknown flag -j`,
		"order list --nothing-like": `unknown flag --nothing-like`,
		"user create --email":       `--email needs a value`,
		"order cancel ord_1":        `missing flags: --reason=TEXT`,
	} {
		parser := newParser(new(cli), &config.Sources{})
		_, err := parser.Parse(strings.Fields(line))
		if err == nil {
			t.Errorf("%s is taken", line)
		} else if got := faultOf(contextOf(parser, err), err); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
