// Command purveyor is the partner commerce service, with all commands of its
// operator.
package main

import (
	"errors"
	"log/slog"
	"os"
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
	Restore  restoreCommand `cmd:"" help:"Make a SQLite database of a backup. Jobs that act outside are held."`
	Doctor   doctorCommand  `cmd:"" help:"Check the settings, the database and all that the service needs from outside, and say what to do. It takes the flags of serve."`
	Settings configCommand  `cmd:"" name:"config" help:"Check and show the settings of a service."`
	Migrate  migrateCommand `cmd:"" help:"Make the database, or bring it up to date; serve does the same."`
	Complete shellCommand   `cmd:"" name:"completion" help:"Print the script by which a shell completes command lines of purveyor."`
	Version  versionCommand `cmd:"" help:"Print the version of the program."`
}

func main() {
	var c cli
	sources := &config.Sources{}
	parser := newParser(&c, sources)
	k, err := parser.Parse(os.Args[1:])
	if err != nil {
		refuseLine(contextOf(parser, err), err)
	}
	logs := startLog(c.Log)
	err = run(k, c.Log, sources)
	logs.Flush()
	if fault, ok := errors.AsType[wrongCall](err); ok {
		refuseLine(k, fault)
	}
	if err != nil {
		complain("purveyor: %v\n", err)
		os.Exit(exitFailed)
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
