package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"purveyor/internal/storage/sqlite"

	"github.com/alecthomas/kong"
)

// version is set by builds of a release: -ldflags "-X main.version=1.2.3".
var version string

// build is what this program is made of.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // with -dirty behind it if files were changed since
	Date     string `json:"date"`   // of the commit
	Go       string `json:"go"`
	Schema   int    `json:"schema"` // number of the last migration
	Platform string `json:"platform"`
}

// thisBuild is read from what the Go command has put into the program.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	const unknown = "unknown"
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	commit := cmp.Or(set["vcs.revision"], unknown)
	if set["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	return build{cmp.Or(version, info.Main.Version, unknown), commit, cmp.Or(set["vcs.time"], unknown),
		runtime.Version(), sqlite.Schema(), runtime.GOOS + "/" + runtime.GOARCH}
}

func (b build) String() string {
	return fmt.Sprintf("version   %s\ncommit    %s\ndate      %s\ngo        %s\nschema    %d\nplatform  %s\n", b.Version, b.Commit, b.Date, b.Go, b.Schema, b.Platform)
}

type versionCommand struct {
	asJSON
}

func (v versionCommand) Run() error {
	if v.JSON {
		return printJSON(thisBuild())
	}
	printf("%v", thisBuild())
	return nil
}

// versionFlag prints the version beside any command, or without one.
type versionFlag bool

// BeforeReset runs before a missing command is refused. Kong calls it if the flag is there.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	printf("%v", thisBuild())
	app.Exit(0)
	return nil
}
