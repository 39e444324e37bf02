package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"purveyor/internal/config"
	"purveyor/internal/nearest"

	"github.com/alecthomas/kong"
)

// Exit codes. Scripts tell by them a failure from a command line that can never work.
const (
	exitFailed = 1
	exitWrong  = 2
)

const about = `Self-hosted partner commerce: stores, catalog, stock and orders for partner systems.

Every flag can be set by the environment variable that follows it, or by a line NAME = value of the file of --config. NAME_FILE names a file with the secret NAME.

Exit code: 0 if the command is done, 1 if it has failed or was refused, 2 if the command line is wrong: then nothing was done.`

// The groups of flags that many commands have.
const everywhere = "Every command:"

func newParser(c *cli, sources *config.Sources, more ...kong.Option) *kong.Kong {
	return kong.Must(c, append([]kong.Option{
		kong.Resolvers(sources),
		kong.Bind(sources),
		kong.Name("purveyor"),
		kong.Description(about),
		kong.ValueFormatter(helpOf),
		kong.BindTo(context.Background(), (*context.Context)(nil)),
		kong.PostBuild(groupGlobals),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true})}, more...)...)
}

// groupGlobals moves the flags that every command has behind those of the command.
func groupGlobals(k *kong.Kong) error {
	for _, flag := range k.Model.Flags {
		flag.Group = &kong.Group{Key: everywhere, Title: everywhere}
	}
	return nil
}

// printHelp is kong's help with the flags of every command at the end.
func printHelp(options kong.HelpOptions, k *kong.Context) error {
	if selected := k.Selected(); selected != nil {
		globals := k.Model.Flags
		selected.Flags = append(selected.Flags, globals...)
		k.Model.Flags = nil
		defer func() { k.Model.Flags = globals }()
	}
	return kong.DefaultHelpPrinter(options, k)
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

// wrongCall is a fault of the command line that only its command sees, as two flags that
// exclude each other.
type wrongCall struct{ error }

func wrong(format string, args ...any) error { return wrongCall{fmt.Errorf(format, args...)} }

// refuseLine says in one line what is wrong with the command line, and where help is.
func refuseLine(k *kong.Context, err error) {
	command := "purveyor"
	if selected := k.Selected(); selected != nil {
		command = selected.FullPath()
	}
	text := oneLine.Replace(faultOf(k, err))
	if !strings.HasSuffix(text, "?") {
		text += ";"
	}
	complain("purveyor: %s see %s --help\n", text, command)
	os.Exit(exitWrong)
}

// faultOf is kong's message about a command line, in our words where kong's say less.
func faultOf(k *kong.Context, err error) string {
	text := err.Error()
	if flag, _, ok := strings.Cut(text, `: expected string value but got "EOL"`); ok {
		return flag + " needs a value"
	}
	flag, ok := strings.CutPrefix(text, "unknown flag ")
	if !ok {
		return text
	}
	flag, _, suggested := strings.Cut(flag, ",")
	if !strings.HasPrefix(flag, "--") { // kong takes any letter for another
		return "unknown flag " + flag
	}
	if suggested {
		return text
	}
	// It may be a flag of a command that was not named yet.
	var names []string
	node := k.Model.Node
	if selected := k.Selected(); selected != nil {
		node = selected
	}
	for _, leaf := range node.Leaves(false) {
		for _, f := range leaf.Flags {
			names = append(names, "--"+f.Name)
		}
	}
	if near := nearest.Of(flag, names); near != "" {
		return fmt.Sprintf("unknown flag %s, did you mean %q behind its command?", flag, near)
	}
	return text
}

// contextOf is how far a command line was understood.
func contextOf(parser *kong.Kong, err error) *kong.Context {
	if p, ok := errors.AsType[*kong.ParseError](err); ok {
		return p.Context
	}
	return &kong.Context{Kong: parser}
}
