package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"purveyor/internal/nearest"

	"github.com/alecthomas/kong"
)

// Sources finds the values of settings that the command line does not give. A setting
// has the name of its variable everywhere. From strong to weak: the variable NAME; for
// secrets, the file that the variable NAME_FILE names, or the systemd credential NAME;
// the line "NAME = value" of the file of --config. Kong applies the default.
//
// It collects all problems, so that an operator sees them at once.
type Sources struct {
	opened   bool
	known    map[string]*kong.Flag // settings of all commands, by variable
	file     file
	origins  map[*kong.Value]string
	problems []error
}

// Where a value is from. Other origins are paths.
const (
	FromFlag     = "flag"
	FromVariable = "variable"
	FromDefault  = "default"
)

const (
	prefix     = "PURVEYOR_"
	fileSuffix = "_FILE"
	maxFile    = 256 << 10
	// credentials is systemd's variable with the folder of the credentials.
	credentials = "CREDENTIALS_DIRECTORY"
)

// Problems returns an error for each value that could not be found or read.
func (s *Sources) Problems() error { return errors.Join(s.problems...) }

// Validate implements kong.Resolver.
func (s *Sources) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (s *Sources) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	s.open(ctx)
	if len(flag.Envs) == 0 {
		return nil, nil
	}
	value, origin, err := s.find(flag)
	if err == nil && origin != "" {
		err = parses(flag, value, origin)
	}
	switch {
	case err != nil:
		s.problems = append(s.problems, err)
		return standIn(flag), nil
	case origin == "":
		return nil, nil
	}
	s.origins[flag.Value] = origin
	if origin == FromVariable {
		return nil, nil // kong has read it
	}
	return value, nil
}

// open learns the names of all settings, and reads the file of --config.
func (s *Sources) open(ctx *kong.Context) {
	if s.opened {
		return
	}
	s.opened, s.known, s.origins = true, map[string]*kong.Flag{}, map[*kong.Value]string{}
	_ = kong.Visit(ctx.Model.Node, func(v kong.Visitable, next kong.Next) error {
		if flag, ok := v.(*kong.Flag); ok {
			for _, name := range flag.Envs {
				s.known[name] = flag
			}
		}
		return next(nil)
	})
	for _, flag := range ctx.Model.Flags {
		path, ok := ctx.FlagValue(flag).(File)
		if !ok || path == "" {
			continue
		}
		var problems []error
		s.file, problems = readFile(string(path))
		s.problems = append(s.problems, problems...)
	}
}

// File is the path of a file with settings.
type File string

// find returns the value of a flag and where it is from; no origin: no source has it.
func (s *Sources) find(flag *kong.Flag) (value, origin string, err error) {
	name, secret := flag.Envs[0], isSecret(flag)
	value, set := os.LookupEnv(name)
	path, inFile := "", false
	if secret {
		path, inFile = os.LookupEnv(name + fileSuffix)
	}
	credential := ""
	if secret {
		credential = credentialOf(name)
	}
	switch {
	case set && inFile:
		return "", "", fmt.Errorf("the variables %s and %[1]s%s are both set: remove one", name, fileSuffix)
	case set:
		return value, FromVariable, nil
	case inFile && credential != "":
		return "", "", fmt.Errorf("the variable %s%s and the credential %s are both there: remove one", name, fileSuffix, credential)
	case inFile || credential != "":
		return readSecret(name, cmp.Or(path, credential))
	}
	line, set := s.file.lines[name]
	in, inFile := s.file.lines[name+fileSuffix]
	switch {
	case set && secret && inFile:
		return "", "", fmt.Errorf("%s and %s have %s and %[3]s%s: remove one", s.file.at(line), s.file.at(in), name, fileSuffix)
	case set:
		return line.value, s.file.at(line), nil
	case secret && inFile:
		return readSecret(name, in.value)
	}
	return "", "", nil
}

// isSecret reports whether a flag has a secret, or a URL that may contain one.
func isSecret(flag *kong.Flag) bool { return flag.Tag.Has("secret") }

// credentialOf returns the path of a systemd credential; empty: there is none.
func credentialOf(name string) string {
	folder := os.Getenv(credentials)
	if folder == "" {
		return ""
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return path
}

// readSecret returns what a file contains, without the line break at its end, and the
// path as its origin.
func readSecret(name, path string) (value, origin string, err error) {
	if path == "" {
		return "", "", fmt.Errorf("%s%s names no file", name, fileSuffix)
	}
	data, err := readSmall(path)
	if err != nil {
		return "", "", fmt.Errorf("the secret %s: %w", name, err)
	}
	value = strings.TrimRight(string(data), "\r\n")
	if value == "" {
		return "", "", fmt.Errorf("the secret %s: %s is empty", name, path)
	}
	return value, path, nil
}

// readSmall reads a file that should be small, and refuses others: the path may be that of
// a device that never ends.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s has more than %d KiB", path, maxFile>>10)
	}
	return data, errors.Join(err, f.Close())
}

// parses returns an error if a flag does not take a value.
func parses(flag *kong.Flag, value, origin string) error {
	target := reflect.New(flag.Target.Type()).Elem()
	scan := kong.Scan().PushTyped(value, kong.FlagValueToken)
	err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, target)
	if err == nil && flag.Enum != "" && target.Kind() != reflect.Slice && !flag.EnumMap()[fmt.Sprint(target)] {
		err = fmt.Errorf("must be one of %s but got %q", strings.Join(flag.EnumSlice(), ", "), value)
	}
	if err != nil {
		return fmt.Errorf("%s (%s, --%s): %w", flag.Envs[0], origin, flag.Name, err)
	}
	return nil
}

// standIn is a value in place of one with a problem, so that kong goes on and the other
// problems are found, too. The command does not run with it.
func standIn(flag *kong.Flag) any {
	switch {
	case flag.HasDefault:
		return flag.Default
	case flag.IsBool():
		return "false"
	}
	return nil
}

// Unknown returns a line for each name in the environment, among the credentials and in
// the file that no setting has. They are no errors, because an older program must start
// with the settings of a newer one.
func (s *Sources) Unknown() []string {
	var lines []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, prefix+"TEST_") {
			lines = s.unknown(lines, "the variable", name, "")
		}
	}
	if folder := os.Getenv(credentials); folder != "" {
		entries, _ := os.ReadDir(folder) // a credential that is there and cannot be read is a problem of its own
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), prefix) {
				lines = s.unknown(lines, "the credential", entry.Name(), "")
			}
		}
	}
	slices.Sort(lines)
	for _, name := range s.file.names {
		lines = s.unknown(lines, "the name", name, " in "+s.file.at(s.file.lines[name]))
	}
	return lines
}

func (s *Sources) unknown(lines []string, kind, name, place string) []string {
	if s.known[name] != nil {
		return lines
	}
	of, isFile := strings.CutSuffix(name, fileSuffix)
	flag := s.known[of]
	switch {
	case isFile && flag != nil && isSecret(flag) && kind != "the credential":
		return lines
	case isFile && flag != nil:
		return append(lines, fmt.Sprintf("%s %s%s is not known: only secrets can be in a file of their own", kind, name, place))
	}
	var names []string
	for known, flag := range s.known {
		names = append(names, known)
		if isSecret(flag) {
			names = append(names, known+fileSuffix)
		}
	}
	line := fmt.Sprintf("%s %s%s is not known", kind, name, place)
	slices.Sort(names)
	if near := nearest.Of(name, names); near != "" {
		line += "; is it " + near + "?"
	}
	return append(lines, line)
}
