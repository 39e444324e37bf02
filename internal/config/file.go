package config

import (
	"fmt"
	"regexp"
	"strings"
)

// file is a file of settings: lines "NAME = value", and comments that begin with #.
type file struct {
	path  string
	names []string // in their order
	lines map[string]line
}

type line struct {
	number int
	value  string
}

// at names a line.
func (f file) at(l line) string { return fmt.Sprintf("%s:%d", f.path, l.number) }

var aName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// readFile reads a file, with all its problems. They never contain a value, because it
// may be a secret.
func readFile(path string) (file, []error) {
	f := file{path: path, lines: map[string]line{}}
	data, err := readSmall(path)
	if err != nil {
		return f, []error{fmt.Errorf("--config: %w", err)}
	}
	var problems []error
	for i, text := range strings.Split(string(data), "\n") {
		l := line{number: i + 1}
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		name, l.value = strings.TrimSpace(name), strings.TrimSpace(value)
		earlier, twice := f.lines[name]
		switch {
		case !ok || !aName.MatchString(name):
			problems = append(problems, fmt.Errorf("%s is not NAME = value, such as PURVEYOR_LISTEN = 127.0.0.1:8080", f.at(l)))
		case twice:
			problems = append(problems, fmt.Errorf("%s sets %s again, which line %d has set", f.at(l), name, earlier.number))
		case quoted(l.value):
			problems = append(problems, fmt.Errorf("%s: write the value of %s without quotes; spaces within it are kept", f.at(l), name))
		default:
			f.names = append(f.names, name)
			f.lines[name] = l
		}
	}
	return f, problems
}

// quoted reports whether a value is in quotes, as shells want it. Here they would
// become part of the value.
func quoted(value string) bool {
	n := len(value)
	return n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0]
}
