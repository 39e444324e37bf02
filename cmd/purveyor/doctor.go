package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"purveyor/internal/config"
	"purveyor/internal/storage/sqlite"

	"github.com/alecthomas/kong"
)

type doctorCommand struct {
	config.Database `group:"Service:"`
	settings
	asJSON
}

func (doctorCommand) listsProblems() {}

// callTime bounds a call to what is outside of this machine.
const callTime = 20 * time.Second

// Run looks at everything, and prints a line for each check.
func (c doctorCommand) Run(ctx context.Context, k *kong.Context, sources *config.Sources) error {
	list := c.examine(ctx, sources)
	failed := 0
	for _, f := range list {
		if f.State == fails {
			failed++
		}
		if !c.JSON {
			printf("%s\n", oneLine.Replace(f.String()))
		}
	}
	var err error
	if c.JSON {
		err = printJSON(list)
	}
	if failed > 0 {
		err = errors.Join(err, fmt.Errorf("checks that failed: %d", failed))
	}
	return err
}

// examine makes all checks. Those that wait for an answer from outside run beside each other.
func (c doctorCommand) examine(ctx context.Context, sources *config.Sources) []finding {
	list := c.configuration(sources)
	c.Server = c.Server.With(c.TLS)
	base, given := c.base()
	var url, outside []finding
	var ahead map[string]time.Duration
	var asked sync.WaitGroup
	asked.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		url, ahead = ofPublicURL(ctx, base, given)
	})
	asked.Go(func() { outside = c.outside(ctx, base) })
	list = append(list, c.database(ctx)...)
	list = append(list, c.rights(sources)...)
	asked.Wait()
	list = append(list, url...)
	if len(ahead) > 0 {
		list = append(list, ofClock(ahead))
	}
	list = append(list, outside...)
	return append(list, ofBackups(c.BackupDir, c.PostgreSQL(), time.Now())...)
}

// base is the URL of the service, and whether it was given.
func (c doctorCommand) base() (url string, given bool) {
	if c.PublicURL != "" {
		return strings.TrimSuffix(c.PublicURL, "/"), true
	}
	if c.Encrypts() {
		return "https://" + c.Listen, false
	}
	return "http://" + c.Listen, false
}

// configuration lists what is wrong with the settings, as `config check` does.
func (c doctorCommand) configuration(sources *config.Sources) (list []finding) {
	const check = "configuration"
	problems := linesOf(errors.Join(sources.Problems(), c.Database.Check(), c.settings.check(c.Database)))
	for _, p := range problems {
		list = append(list, finding{check, fails, p, ""})
	}
	for _, line := range sources.Unknown() {
		list = append(list, finding{check, warns, line, "correct the name, or remove it"})
	}
	if _, err := config.CheckDescriptors(config.Descriptors()); err != nil {
		list = append(list, finding{check, fails, err.Error(), ""})
	}
	if len(list) == 0 {
		list = append(list, finding{Check: check, State: fine, Text: "the settings have no problem"})
	}
	return list
}

// database opens the database and looks at it. It changes nothing.
func (c doctorCommand) database(ctx context.Context) []finding {
	pending, err := pendingMigrations(c.Database)
	switch {
	case err != nil:
		return []finding{found("database", "", err, "")}
	case len(pending) > 0:
		return []finding{{"migrations", fails, fmt.Sprintf("the database lacks %d of the %d migrations of this program", len(pending), sqlite.Schema()),
			"apply them with purveyor migrate; what else is in the database was not looked at"}}
	}
	db, err := openDatabase(c.Database, toUse)
	if err != nil {
		return []finding{found("database", "", err, "")}
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	list := append(answers(db.Reader().Ping(ctx), db.Writable(ctx)), db.health(ctx)...)
	return append(list, ofZones(ctx, db))
}

// ofZones looks for stores with a time zone that is not known.
func ofZones(ctx context.Context, db *database) finding {
	const check = "time zones"
	n := 0
	for s, err := range storesOf(ctx, db.Reader()) {
		if err != nil {
			return found(check, "", err, "")
		}
		if _, err := time.LoadLocation(s.TimeZone); err != nil {
			return finding{check, fails, fmt.Sprintf("store %s has %q, which is not known", s.ID, s.TimeZone), "import the store with another time_zone"}
		}
		n++
	}
	return finding{Check: check, State: fine, Text: fmt.Sprintf("those of %d stores are known", n)}
}

// rights looks for files that other users of the machine can read, and for a database that this
// user would leave files beside that its owner cannot use.
func (c doctorCommand) rights(sources *config.Sources) (list []finding) {
	const check = "file modes"
	files := sources.SecretFiles()
	if c.TLSKey != "" {
		files = append(files, c.TLSKey)
	}
	if c.BackupDir != "" {
		files = append(files, c.BackupDir)
	}
	path, err := c.SQLitePath()
	if err == nil {
		files = append(files, path, path+"-wal", path+"-requests")
	}
	for _, file := range files {
		if mode, open := sqlite.ForAll(file); open {
			list = append(list, finding{check, warns, fmt.Sprintf("all users of this machine can use %s (%s)", file, mode), "take the rights away with chmod o="})
		}
	}
	if err == nil && sqlite.Foreign(path) {
		list = append(list, finding{check, warns, path + " belongs to another user", "run commands as its owner: what they leave beside it as root, the service cannot use"})
	}
	if len(list) == 0 {
		list = append(list, finding{Check: check, State: fine, Text: "no file with secrets is open to other users"})
	}
	return list
}
