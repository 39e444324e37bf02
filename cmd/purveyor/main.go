// Command purveyor is the partner commerce service, with all commands of its
// operator.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	_ "time/tzdata" // the time zones of stores, for machines without them

	"purveyor/internal/config"

	"github.com/alecthomas/kong"
)

type cli struct {
	config.Log
	ShowVersion versionFlag `help:"Print the version of the program." name:"version"`
	Config      config.File `help:"File with settings: lines NAME = value, where NAME is that of the variable." env:"PURVEYOR_CONFIG" placeholder:"FILE"`

	Serve    serveCommand   `cmd:"" help:"Serve the API."`
	Demo     demoCommand    `cmd:"" help:"Serve a demo: stores, a catalog and a partner in a new database that is deleted at the end."`
	Import   importCommand  `cmd:"" help:"Create or update stores, categories and products from a file: all of it, or nothing."`
	Export   exportCommand  `cmd:"" help:"Write stores, categories and products as a file that import takes."`
	Order    orderCommand   `cmd:"" help:"Show orders, explain them, and move them on, each act with an audit entry."`
	Store    storeCommand   `cmd:"" help:"Change stores."`
	Partner  partnerCommand `cmd:"" help:"Create and manage partners and their keys."`
	User     userCommand    `cmd:"" help:"Create and manage users of the back office."`
	Webhook  webhookCommand `cmd:"" help:"Show webhooks, send them again, and manage partners' endpoints."`
	Jobs     jobsCommand    `cmd:"" help:"Show waiting and failed work, try it at once, or give it up."`
	Outbox   outboxCommand  `cmd:"" help:"Read e-mails and texts that were not sent."`
	Listen   listenCommand  `cmd:"" help:"Forward a partner's events from a running service to a local URL, for its developer."`
	Trigger  triggerCommand `cmd:"" help:"Have a running service play a test order until an event has happened, for a partner's developer."`
	Certify  certifyCommand `cmd:"" help:"Try a partner's integration against a running service: 30 checks of its calls, webhooks and books."`
	Ledger   ledgerCommand  `cmd:"" help:"Check the money."`
	Stock    stockCommand   `cmd:"" help:"Check the stock."`
	Audit    auditCommand   `cmd:"" help:"Read who changed what."`
	Copy     copyCommand    `cmd:"" help:"Copy a database into an empty one, of the other kind or the same: all of it, or nothing."`
	Backup   backupCommand  `cmd:"" help:"Back a SQLite database up, and check backups."`
	Doctor   doctorCommand  `cmd:"" help:"Check the settings, the database and all that the service needs from outside, and say what to do. It takes the flags of serve."`
	Settings configCommand  `cmd:"" name:"config" help:"Check and show the settings of a service."`
	Migrate  migrateCommand `cmd:"" help:"Make the database, or bring it up to date; serve does the same."`
	Version  versionCommand `cmd:"" help:"Print the version of the program."`
}

func main() {
	var c cli
	sources := &config.Sources{}
	parser := kong.Must(&c,
		kong.Resolvers(sources),
		kong.Bind(sources),
		kong.Name("purveyor"),
		kong.Description("Self-hosted partner commerce: stores, catalog, stock and orders for partner systems.\n\nEvery flag can be set by the environment variable that follows it, or by a line NAME = value of the file of --config. NAME_FILE names a file with the secret NAME."),
		kong.ValueFormatter(helpOf),
		kong.BindTo(context.Background(), (*context.Context)(nil)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	k, err := parser.Parse(os.Args[1:])
	if err != nil {
		refuseLine(err)
	}
	logs := startLog(c.Log)
	err = run(k, c.Log, sources)
	logs.Flush()
	if err != nil {
		complain("purveyor: %v\n", err)
		os.Exit(1)
	}
}

// preparer is a command that does something before its database is opened: it checks
// flags against each other, or reads its input.
type preparer interface{ prepare() error }

// problemLister is a command that lists the problems of its settings by itself.
type problemLister interface{ listsProblems() }

// run runs the selected command, if its settings can be read.
func run(k *kong.Context, log config.Log, sources *config.Sources) error {
	command := k.Selected().Target.Addr().Interface()
	if _, lists := command.(problemLister); !lists {
		if err := sources.Problems(); err != nil {
			return err
		}
		for _, line := range sources.Unknown() {
			slog.Warn(line)
		}
	}
	if command, ok := command.(preparer); ok {
		if err := command.prepare(); err != nil {
			return err
		}
	}
	return k.Run(log)
}

// refuseLine prints the fault of the command line, and how to get help.
func refuseLine(err error) {
	command, code := "purveyor", 1
	if p, ok := errors.AsType[*kong.ParseError](err); ok {
		code = p.ExitCode()
		if selected := p.Context.Selected(); selected != nil {
			command = selected.FullPath()
		}
	}
	complain("purveyor: error: %v\nSee %s --help.\n", err, command)
	os.Exit(code)
}

// helpOf returns the help of a flag with its environment variable, and with its
// default if the flag's name shows a placeholder instead.
func helpOf(v *kong.Value) string {
	var notes []string
	if v.HasDefault && v.Default != "" && v.Tag.PlaceHolder != "" {
		notes = append(notes, "default "+v.Default)
	}
	for _, env := range v.Tag.Envs {
		notes = append(notes, "$"+env)
		if v.Tag.Has("secret") {
			notes = append(notes, "$"+env+"_FILE")
		}
	}
	if len(notes) == 0 {
		return v.Help
	}
	return strings.TrimSuffix(v.Help, ".") + " (" + strings.Join(notes, ", ") + ")."
}
