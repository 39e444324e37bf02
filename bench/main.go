// Command bench measures the service as its users meet it: the built program in
// a process of its own, HTTP over loopback, and each case in turns with what it
// is compared with. It starts a PostgreSQL of its own.
// docs/BENCHMARKS.md says how to run it.
//
// The cases are listed in sections.go. measure.go, load.go and callers.go are
// the load generator; process.go, database.go and fill.go make what is
// measured; stage.go runs a case on all databases and report.go writes it down.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"purveyor/internal/testkit/pg"

	"golang.org/x/sys/unix"
)

// options are what the command line says.
type options struct {
	only    string
	seconds float64
	rounds  int
	orders  int
	dir     string
	old     string
	quick   bool
	write   bool
}

func main() {
	if err := mainErr(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func mainErr(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(args) == 2 && args[0] == serveBytesArg {
		return serveBytes(ctx, args[1])
	}
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.quick {
		connections = quickConnections
	}
	return o.measure(ctx, os.Stdout)
}

// parse reads the command line. Names of sections and cases may stand among the
// options; they mean the same as in -only.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.only, "only", "", "sections and cases to run, such as limits,payments/notices; all if empty: "+strings.Join(allNames(), ", "))
	flags.Float64Var(&o.seconds, "seconds", 2, "length of one run")
	flags.IntVar(&o.rounds, "rounds", 3, "rounds of each case")
	flags.IntVar(&o.orders, "orders", 0, "also measure on databases with so many orders, or delivered webhooks; one is in -dir at a time")
	flags.StringVar(&o.dir, "dir", "", "folder on disk for databases (default: a temporary folder)")
	flags.StringVar(&o.old, "old", "", "an older program of the service to compare with, on databases that it makes itself")
	flags.BoolVar(&o.quick, "quick", false, "one short round of each case on few rows; the figures mean nothing")
	flags.BoolVar(&o.write, "write", false, "write what is measured into docs/BENCHMARKS.md")
	var named []string
	for err = flags.Parse(args); err == nil && flags.NArg() > 0; err = flags.Parse(flags.Args()[1:]) {
		named = append(named, flags.Arg(0))
	}
	o.only = strings.Join(append(o.names(), named...), ",")
	return o, err
}

// check refuses options that cannot work.
func (o options) check() error {
	for _, name := range o.names() {
		if !slices.Contains(allNames(), name) {
			return fmt.Errorf("-only: there is no case %q; choose from %s", name, strings.Join(allNames(), ", "))
		}
	}
	switch {
	case o.orders > 0 && o.dir == "":
		return errors.New("-orders takes time to fill databases: name a folder for them with -dir")
	case o.write && (o.quick || o.old != "" || strings.Contains(o.only, "/")):
		return errors.New("-write is for whole sections, without -quick and -old")
	case o.write && o.orders == 0 && slices.ContainsFunc(sections, func(s section) bool { return s.full && o.wants(s.name) }):
		return errors.New("-write of these sections needs -orders: they also have targets for full databases")
	}
	return nil
}

func (o options) names() []string {
	return strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' })
}

// wants tells whether a section, or a case of it, is to be run.
func (o options) wants(section string, cases ...string) bool {
	return o.only == "" || slices.ContainsFunc(o.names(), func(name string) bool {
		whole, one, _ := strings.Cut(name, "/")
		return whole == section && (one == "" || len(cases) == 0 || slices.Contains(cases, one))
	})
}

// bench is one run of this program.
type bench struct {
	options
	sizes
	ctx      context.Context
	program  string // the service
	root     string // of the service's module
	work     string // scratch, removed at the end
	pace     pace
	machine  string
	postgres *pg.Server
	cores    unix.CPUSet // that the run may use
	confined int         // how many of them are used at present
	pgbench  string      // URL of its database; empty: it is not made yet
	shortage string      // of the disk, because of which full databases are smaller; empty: there is none
}

// measure runs the wanted cases and prints their tables.
func (o options) measure(ctx context.Context, out io.Writer) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	if o.orders == 0 { // the catalog of a full database is large, and should not be there five times
		debug.SetGCPercent(400) // this process shares the machine with the service
	}
	if o.quick {
		o.seconds, o.rounds = 0.01, 1
	}
	b := &bench{options: o, sizes: o.sizes(), ctx: ctx, pace: newPace(o.seconds, o.rounds)}
	defer func() { err = errors.Join(err, b.close()) }()
	defer catch(&err)
	b.open()
	for _, s := range sections {
		if !o.wants(s.name) {
			continue
		}
		r := b.measureSection(s)
		day := time.Now().UTC().Format(time.DateOnly)
		about := fmt.Sprintf("%s: `%s`. %s.", day, o.commandLine(), b.machine)
		fmt.Fprintf(out, "## %s\n\n%s\n\n%s\n", s.name, about, r.text())
		if len(r.errors) > 0 { // figures beside failures are worth nothing
			return fmt.Errorf("%s: %s", s.name, strings.Join(r.errors, "\n"))
		}
		if o.write {
			path := filepath.Join(b.root, "docs/BENCHMARKS.md")
			made := must(replaceFigures(string(must(os.ReadFile(path))), s.name, about, day, r.rows))
			check(os.WriteFile(path, []byte(made), 0o644))
		}
	}
	return nil
}

// commandLine is how these figures can be measured again. Folders are not named.
func (o options) commandLine() string {
	line := "go -C bench run ."
	add := func(set bool, format string, args ...any) {
		if set {
			line += fmt.Sprintf(format, args...)
		}
	}
	add(o.quick, " -quick")
	add(o.only != "", " -only %s", o.only)
	add(o.orders > 0, " -orders %d", o.orders)
	add(o.dir != "", " -dir FOLDER")
	add(o.old != "", " -old PROGRAM")
	add(!o.quick, " -seconds %v -rounds %d", o.seconds, o.rounds)
	add(o.write, " -write")
	return line
}

// open makes the folders and builds the service.
func (b *bench) open() {
	root, err := exec.CommandContext(b.ctx, "go", "list", "-m", "-f", "{{.Dir}}", "purveyor").Output()
	if err != nil {
		check(fmt.Errorf("run this in the folder bench, or with go -C bench: %w", err))
	}
	b.root = strings.TrimSpace(string(root))
	if b.dir != "" {
		check(os.MkdirAll(b.dir, 0o755))
	}
	b.work = must(os.MkdirTemp(b.dir, "purveyor-bench-"))
	b.machine = machine(b.work)
	b.cores = allowed()
	b.confined = b.cores.Count()
	if b.orders > 0 {
		b.orders = b.thatFit()
	}
	b.program = filepath.Join(b.work, "purveyor")
	// What `go run` links stays in the build cache; what `go build` links does not.
	b.output("go", "run", "-C", b.root, "-exec", "cp", "./cmd/purveyor", b.program)
}

func (b *bench) close() (err error) {
	if b.postgres != nil {
		err = b.postgres.Close()
	}
	return errors.Join(err, os.RemoveAll(b.work))
}
