package main

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type shellCommand struct {
	Bash  completionBash  `cmd:"" help:"Print the script for bash."`
	Zsh   completionZsh   `cmd:"" help:"Print the script for zsh."`
	Fish  completionFish  `cmd:"" help:"Print the script for fish."`
	Words completionWords `cmd:"" help:"Print what the last word of a command line may become, as the scripts need it."`
}

//go:embed completion/purveyor.bash
var bashScript string

//go:embed completion/purveyor.zsh
var zshScript string

//go:embed completion/purveyor.fish
var fishScript string

type completionBash struct{}

func (completionBash) Run() error { return printScript(bashScript) }

type completionZsh struct{}

func (completionZsh) Run() error { return printScript(zshScript) }

type completionFish struct{}

func (completionFish) Run() error { return printScript(fishScript) }

func printScript(text string) error {
	printf("%s", text)
	return nil
}

type completionWords struct {
	Words []string `arg:"" optional:"" help:"Behind --: the words of the command line up to the cursor, without the program."`
}

// Run prints a line for each candidate: the word, a tab, and what it means.
func (c completionWords) Run(k *kong.Context) error {
	for _, found := range completed(k.Model.Node, c.Words) {
		if found.means == "" {
			printf("%s\n", found.word)
		} else {
			printf("%s\t%s\n", found.word, oneLine.Replace(found.means))
		}
	}
	return nil
}

type candidate struct{ word, means string }

// In place of a candidate: the shell completes names of files, or of folders.
const (
	anyFile = ":file"
	anyDir  = ":dir"
)

// completed returns what the last word may become.
func completed(root *kong.Node, words []string) (list []candidate) {
	if len(words) == 0 {
		words = []string{""}
	}
	at, last := readWords(root, words[:len(words)-1]), words[len(words)-1]
	if last == "=" { // bash takes it for a word
		last = ""
	}
	name, _, assigned := strings.Cut(last, "=")
	switch flag := at.flag(name); {
	case at.value != nil:
		list = valuesOf(at.value, "")
	case assigned && flag != nil && !at.ended:
		list = valuesOf(flag.Value, name+"=")
	case strings.HasPrefix(last, "-") && !at.ended:
		list = at.flags()
	case len(at.node.Children) > 0:
		for _, c := range at.node.Children {
			list = append(list, candidate{c.Name, c.Help})
		}
	case at.arguments < len(at.node.Positional):
		list = valuesOf(at.node.Positional[at.arguments], "")
	case len(at.node.Positional) > 0 && at.node.Positional[len(at.node.Positional)-1].IsCumulative():
		list = valuesOf(at.node.Positional[len(at.node.Positional)-1], "")
	}
	if isPlace(list) {
		return list
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return !strings.HasPrefix(c.word, last) })
}

func isPlace(list []candidate) bool {
	return len(list) == 1 && (list[0].word == anyFile || list[0].word == anyDir)
}

// place is where in a command line a word stands.
type place struct {
	node      *kong.Node
	value     *kong.Value // of the flag before the word; nil: it has none
	arguments int         // before the word
	given     map[string]bool
	ended     bool // only arguments follow
}

func readWords(root *kong.Node, words []string) place {
	at := place{node: root, given: map[string]bool{}}
	for _, word := range words {
		if at.value != nil {
			if word != "=" { // bash takes it for a word
				at.value = nil
			}
			continue
		}
		name, _, assigned := strings.Cut(word, "=")
		switch flag := at.flag(name); {
		case !at.ended && word == "--":
			at.ended = true
		case !at.ended && flag != nil:
			at.given[name] = true
			if !assigned && !flag.IsBool() {
				at.value = flag.Value
			}
		case !at.ended && strings.HasPrefix(word, "-"):
		default:
			at.argument(word)
		}
	}
	return at
}

func (at *place) argument(word string) {
	for _, c := range at.node.Children {
		if c.Name == word {
			at.node = c
			return
		}
	}
	at.arguments++
}

// all are the flags that may stand here.
func (at place) all() (list []*kong.Flag) {
	for _, level := range at.node.AllFlags(true) {
		list = append(list, level...)
	}
	if d := at.node.DefaultCmd; d != nil {
		list = append(list, d.Flags...)
	}
	return list
}

func (at place) flag(name string) *kong.Flag {
	for _, f := range at.all() {
		if "--"+f.Name == name {
			return f
		}
	}
	return nil
}

// flags are those that are not given, or may be given again.
func (at place) flags() (list []candidate) {
	for _, f := range at.all() {
		if !at.given["--"+f.Name] || f.IsCumulative() {
			list = append(list, candidate{"--" + f.Name, f.Help})
		}
	}
	return list
}

// valuesOf returns the values that a flag or an argument is known to take, each behind a prefix.
func valuesOf(v *kong.Value, prefix string) (list []candidate) {
	switch {
	case v.Tag.PlaceHolder == "FILE":
		return []candidate{{anyFile, ""}}
	case v.Tag.PlaceHolder == "DIR":
		return []candidate{{anyDir, ""}}
	case v.Enum == "":
		return nil
	}
	for _, word := range v.EnumSlice() {
		if word != "" {
			list = append(list, candidate{prefix + word, ""})
		}
	}
	return list
}
