// Command purveyor is the partner commerce service and everything that an
// operator does with it.
package main

import (
	"os"

	"purveyor/internal/config"

	"github.com/alecthomas/kong"
)

type cli struct {
	config.Log

	Serve   serveCommand   `cmd:"" help:"Serve the API."`
	Demo    demoCommand    `cmd:"" help:"Serve a demo: stores, a catalog and a partner in a fresh database that goes away at the end."`
	Import  importCommand  `cmd:"" help:"Make or update stores, categories and products from a JSON file: all of it, or nothing."`
	Partner partnerCommand `cmd:"" help:"Make and manage partners and their keys."`
	Webhook webhookCommand `cmd:"" help:"See what was sent to partners, send it again, and manage their endpoints."`
	Outbox  outboxCommand  `cmd:"" help:"Read e-mails and texts that were kept and not sent."`
	Listen  listenCommand  `cmd:"" help:"Forward a partner's events from a running service to a local URL, for its developer."`
	Ledger  ledgerCommand  `cmd:"" help:"Check the money."`
	Stock   stockCommand   `cmd:"" help:"Check the stock."`
	Copy    copyCommand    `cmd:"" help:"Copy a database into an empty one, of the other kind or the same: all of it, or nothing."`
	Migrate migrateCommand `cmd:"" help:"Bring the database up to date. Every other command does so, too."`
}

func main() {
	var c cli
	parser := kong.Must(&c,
		kong.Name("purveyor"),
		kong.Description("Self-hosted partner commerce: stores, catalog, stock and orders for partner systems.\n\nEvery flag can be set by the environment variable that stands behind it."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	k, err := parser.Parse(os.Args[1:])
	parser.Stdout = os.Stderr // help behind a mistake is no output
	parser.FatalIfErrorf(err)
	logs := startLog(c.Log)
	err = k.Run()
	logs.Close()
	if err != nil {
		complain("purveyor: %v\n", err)
		os.Exit(1)
	}
}
