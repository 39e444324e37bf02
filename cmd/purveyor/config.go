package main

import (
	"errors"
	"fmt"
	"strings"

	"purveyor/internal/config"

	"github.com/alecthomas/kong"
)

type configCommand struct {
	Check configCheckCommand `cmd:"" help:"Check the settings that serve would use, and list every problem. It takes the flags of serve."`
	Show  configShowCommand  `cmd:"" help:"Show the settings that serve would use, and where each is from, without secrets. It takes the flags of serve."`
}

type configCheckCommand struct {
	config.Database `group:"Service:"`
	settings
}

func (configCheckCommand) listsProblems() {}

// Run checks everything that can be known without a database and without a network.
func (c configCheckCommand) Run(sources *config.Sources) error {
	problems := linesOf(errors.Join(sources.Problems(), c.Database.Check(), c.settings.check(c.Database)))
	problems = append(problems, sources.Unknown()...)
	for _, p := range problems {
		printf("%s\n", p)
	}
	if n := len(problems); n > 0 {
		return fmt.Errorf("problems in the settings: %d", n)
	}
	printf("the settings have no problem\n")
	return nil
}

// linesOf returns the errors that were joined.
func linesOf(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

type configShowCommand struct {
	config.Database `group:"Service:"`
	settings
	asJSON
}

func (c configShowCommand) Run(k *kong.Context, sources *config.Sources) error {
	list := sources.Settings(k)
	if c.JSON {
		return printJSON(list)
	}
	t := newTable("NAME", "VALUE", "FROM")
	for _, s := range list {
		t.row(s.Name, s.Value, s.Origin)
	}
	return t.flush()
}
