package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// program is a small command line with a setting of each kind.
type program struct {
	Config File `env:"PURVEYOR_CONFIG"`
	Run    struct {
		Listen string   `env:"PURVEYOR_LISTEN" default:"here"`
		Size   int      `env:"PURVEYOR_SIZE" default:"7"`
		Mode   string   `env:"PURVEYOR_MODE" enum:"on,off" default:"on"`
		Loud   bool     `env:"PURVEYOR_LOUD"`
		Key    string   `env:"PURVEYOR_KEY" secret:""`
		Keys   []string `env:"PURVEYOR_KEYS" secret:""`
		Data   string   `env:"PURVEYOR_DATA" secret:"url"`
		Plain  string   // has no variable
	} `cmd:""`
}

// world is where settings come from in a test. FOLDER stands for its folder.
type world struct {
	folder    string
	variables []string // NAME=value
	files     []string // name, text, name, text
	args      []string
}

// resolve parses the command line in that world.
func (w world) resolve(t *testing.T) (*program, *Sources, *kong.Context) {
	t.Helper()
	in := func(s string) string { return strings.ReplaceAll(s, "FOLDER", w.folder) }
	for _, v := range w.variables {
		name, value, _ := strings.Cut(in(v), "=")
		t.Setenv(name, value)
	}
	for i := 0; i < len(w.files); i += 2 {
		path := filepath.Join(w.folder, w.files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(in(w.files[i+1])), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, s := &program{}, &Sources{}
	args := []string{"run"}
	for _, a := range w.args {
		args = append(args, in(a))
	}
	ctx, err := kong.Must(p, kong.Resolvers(s)).Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return p, s, ctx
}

// The flag is the strongest, then come the variable, the file of its own or the
// credential, the file of --config, and the default.
func TestPrecedence(t *testing.T) {
	const settings = "# the shop\n\n PURVEYOR_LISTEN = file = a # b\r\nPURVEYOR_SIZE=3\nPURVEYOR_LOUD = yes\nPURVEYOR_KEY=k1\nPURVEYOR_KEYS = k2,k3\n"
	config := []string{"--config", "FOLDER/c"}
	for _, c := range []struct {
		name  string
		world world
		want  string // Listen, Size, Loud, Key, Keys
		from  string // of the listed settings that are no defaults
	}{
		{"nothing", world{}, "here 7 false  []", ""},
		{"a file", world{files: []string{"c", settings}, args: config}, "file = a # b 3 true k1 [k2 k3]", "LISTEN=c:3 SIZE=c:4 LOUD=c:5 KEY=c:6 KEYS=c:7"},
		{"a file by its variable", world{files: []string{"c", "PURVEYOR_SIZE = 4"}, variables: []string{"PURVEYOR_CONFIG=FOLDER/c"}}, "here 4 false  []", "SIZE=c:1"},
		{"variables before the file", world{files: []string{"c", settings}, args: config, variables: []string{"PURVEYOR_LISTEN=v", "PURVEYOR_SIZE=5", "PURVEYOR_KEY=v2", "PURVEYOR_LOUD=no"}},
			"v 5 false v2 [k2 k3]", "LISTEN=variable SIZE=variable LOUD=variable KEY=variable KEYS=c:7"},
		{"flags before all", world{files: []string{"c", settings}, args: append(slices.Clone(config), "--listen=f", "--key=k9", "--plain=x"), variables: []string{"PURVEYOR_LISTEN=v"}},
			"f 3 true k9 [k2 k3]", "LISTEN=flag SIZE=c:4 LOUD=c:5 KEY=flag KEYS=c:7"},
		{"a file of its own before the file", world{files: []string{"c", settings, "s", "of a file\n"}, args: config, variables: []string{"PURVEYOR_KEY_FILE=FOLDER/s"}},
			"file = a # b 3 true of a file [k2 k3]", "LISTEN=c:3 SIZE=c:4 LOUD=c:5 KEY=s KEYS=c:7"},
		{"a credential before the file", world{files: []string{"c", settings, "creds/PURVEYOR_KEYS", "a,b"}, args: config, variables: []string{"CREDENTIALS_DIRECTORY=FOLDER/creds"}},
			"file = a # b 3 true k1 [a b]", "LISTEN=c:3 SIZE=c:4 LOUD=c:5 KEY=c:6 KEYS=creds/PURVEYOR_KEYS"},
		{"a variable before a credential", world{files: []string{"creds/PURVEYOR_KEY", "a", "creds/PURVEYOR_LISTEN", "not a secret"}, variables: []string{"CREDENTIALS_DIRECTORY=FOLDER/creds", "PURVEYOR_KEY=v"}},
			"here 7 false v []", "KEY=variable"},
		{"a file that names a file", world{files: []string{"c", "PURVEYOR_KEYS_FILE = FOLDER/s", "s", "x,y\r\n"}, args: config}, "here 7 false  [x y]", "KEYS=s"},
		{"an empty line is a value", world{files: []string{"c", "PURVEYOR_LISTEN ="}, args: config}, " 7 false  []", "LISTEN=c:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.world.folder = t.TempDir()
			p, s, ctx := c.world.resolve(t)
			if err := s.Problems(); err != nil {
				t.Error(err)
			}
			if got := fmt.Sprint(p.Run.Listen, " ", p.Run.Size, p.Run.Loud, " ", p.Run.Key, " ", p.Run.Keys); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			var from []string
			for _, v := range s.Settings(ctx) {
				if v.Origin != FromDefault && v.Name != "PURVEYOR_CONFIG" {
					from = append(from, strings.TrimPrefix(v.Name, prefix)+"="+strings.TrimPrefix(v.Origin, c.world.folder+"/"))
				}
			}
			if got := strings.Join(from, " "); got != c.from {
				t.Errorf("from %s, want %s", got, c.from)
			}
		})
	}
}

// All problems are found at once, by their place, and none repeats a secret.
func TestProblems(t *testing.T) {
	w := world{folder: t.TempDir(), args: []string{"--config=FOLDER/c"},
		variables: []string{"PURVEYOR_SIZE=many", "PURVEYOR_KEY=hush", "PURVEYOR_KEY_FILE=FOLDER/s", "PURVEYOR_DATA_FILE=FOLDER/none"},
		files:     []string{"c", "PURVEYOR_MODE=maybe\nPURVEYOR_LISTEN=\"hush\"\nhush\n=hush\nPURVEYOR_LOUD=1\nPURVEYOR_LOUD=hush\nPURVEYOR_KEYS=hush\nPURVEYOR_KEYS_FILE=x\n"}}
	_, s, _ := w.resolve(t)
	got := strings.ReplaceAll(fmt.Sprint(s.Problems()), w.folder+"/", "")
	want := `c:2: write the value of PURVEYOR_LISTEN without quotes; spaces within it are kept
c:3 is not NAME = value, such as PURVEYOR_LISTEN = 127.0.0.1:8080
c:4 is not NAME = value, such as PURVEYOR_LISTEN = 127.0.0.1:8080
c:6 sets PURVEYOR_LOUD again, which line 5 has set
PURVEYOR_SIZE (variable, --size): expected a valid 64 bit int but got "many"
PURVEYOR_MODE (c:1, --mode): must be one of on, off but got "maybe"
the variables PURVEYOR_KEY and PURVEYOR_KEY_FILE are both set: remove one
c:7 and c:8 have PURVEYOR_KEYS and PURVEYOR_KEYS_FILE: remove one
the secret PURVEYOR_DATA: open none: no such file or directory`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSecretFilesAreRefused(t *testing.T) {
	for _, c := range []struct{ name, file, variable, says string }{
		{"empty", "", "PURVEYOR_KEY_FILE=FOLDER/s", "is empty"},
		{"a line break", "\n", "PURVEYOR_KEY_FILE=FOLDER/s", "is empty"},
		{"no name", "x", "PURVEYOR_KEY_FILE=", "PURVEYOR_KEY_FILE names no file"},
		{"a folder", "x", "PURVEYOR_KEY_FILE=FOLDER", "is a directory"},
		{"endless", "x", "PURVEYOR_KEY_FILE=/dev/zero", "/dev/zero has more than 256 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s, _ := world{folder: t.TempDir(), files: []string{"s", c.file}, variables: []string{c.variable}}.resolve(t)
			says(t, c.name, s.Problems(), c.says)
		})
	}
	t.Run("two at once", func(t *testing.T) {
		_, s, _ := world{folder: t.TempDir(), files: []string{"s", "a", "creds/PURVEYOR_KEY", "b"}, variables: []string{"PURVEYOR_KEY_FILE=FOLDER/s", "CREDENTIALS_DIRECTORY=FOLDER/creds"}}.resolve(t)
		says(t, "two", s.Problems(), "are both there: remove one")
	})
	t.Run("no settings", func(t *testing.T) {
		_, s, _ := world{folder: t.TempDir(), args: []string{"--config=FOLDER/none"}}.resolve(t)
		says(t, "none", s.Problems(), "--config: open")
	})
}

// Unknown names are told with the nearest one that exists.
func TestUnknownNames(t *testing.T) {
	w := world{folder: t.TempDir(), args: []string{"--config=FOLDER/c"},
		variables: []string{"PURVEYOR_LSITEN=1", "PURVEYOR_LISTEN_FILE=x", "PURVEYOR_TEST_SERVER=1", "PURVEYOR_OTHER_THINGS=1", "CREDENTIALS_DIRECTORY=FOLDER/creds", "OTHER=1"},
		files:     []string{"creds/PURVEYOR_KEZ", "x", "creds/other", "x", "c", "PURVEYOR_KEYFILE = FOLDER/s\nSHOP=1\nPURVEYOR_KEYS_FILE=FOLDER/s", "s", "a"}}
	_, s, _ := w.resolve(t)
	if err := s.Problems(); err != nil {
		t.Error(err)
	}
	got := strings.ReplaceAll(strings.Join(s.Unknown(), "\n"), w.folder+"/", "")
	want := `the credential PURVEYOR_KEZ is not known; is it PURVEYOR_KEY?
the variable PURVEYOR_LISTEN_FILE is not known: only secrets can be in a file of their own
the variable PURVEYOR_LSITEN is not known; is it PURVEYOR_LISTEN?
the variable PURVEYOR_OTHER_THINGS is not known
the name PURVEYOR_KEYFILE in c:1 is not known; is it PURVEYOR_KEY_FILE?
the name SHOP in c:2 is not known`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Secrets are not shown, and URLs without their password.
func TestShownSettings(t *testing.T) {
	_, s, ctx := world{args: []string{"--key=hush", "--keys=hush,hush", "--data=postgres://ann:hush@db/shop?password=hush&sslmode=require"}}.resolve(t)
	got := fmt.Sprint(s.Settings(ctx))
	want := "[{PURVEYOR_CONFIG  default} {PURVEYOR_LISTEN here default} {PURVEYOR_SIZE 7 default} {PURVEYOR_MODE on default} {PURVEYOR_LOUD false default}" +
		" {PURVEYOR_KEY set flag} {PURVEYOR_KEYS set flag} {PURVEYOR_DATA postgres://ann:xxxxx@db/shop?password=xxxxx&sslmode=require flag}]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
