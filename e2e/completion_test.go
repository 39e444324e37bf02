package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// Each shell completes commands, flags, values and files by the script that the program prints.
// The shells other than bash are tried where they are installed.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(folder, "shop.json"), nil, 0o600))
	check.OK(t, os.Mkdir(filepath.Join(folder, "shelf"), 0o700))
	check.OK(t, os.Symlink(program(t), filepath.Join(folder, "purveyor")))
	for shell, run := range shells {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(err)
			}
			check.OK(t, os.WriteFile(filepath.Join(folder, "script."+shell), []byte(operate(t, "completion", shell).ok(t)), 0o600))
			for line, want := range map[string]string{
				"ex":                     "export",
				"order pi":               "picked-up",
				"order list --mo":        "--mode",
				"order list --mode ":     "live test",
				"order list --mode=t":    "test",
				"import --dry-run sh":    "shelf shop.json",
				"backup --to sh":         "shelf",
				"--log-format js":        "json",
				"order cancel --rea":     "--reason",
				"serve --config=sh":      "shelf shop.json",
				"order show --nonsense ": "",
			} {
				cmd := exec.Command(shell, run(line)...)
				cmd.Dir, cmd.Env = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+folder)
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s: %v: %s", line, err, out)
				}
				var words []string
				for l := range strings.Lines(string(out)) {
					word, _, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
					words = append(words, strings.TrimSuffix(word[strings.LastIndex(word, "=")+1:], "/"))
				}
				if got := strings.TrimSpace(strings.Join(words, " ")); got != want {
					t.Errorf("%q: %q, want %q", line, got, want)
				}
			}
		})
	}
}

// shells are the arguments by which a shell prints how it completes a line.
var shells = map[string]func(line string) []string{
	"bash": func(line string) []string {
		return []string{"--norc", "-c", `source script.bash; compopt() { :; }; read -ra COMP_WORDS <<<"${1//=/ = }"; case $1 in *" ") COMP_WORDS+=("") ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _purveyor purveyor; printf '%s\n' "${COMPREPLY[@]}" | sort`, "bash", "purveyor " + line}
	},
	"zsh": func(line string) []string {
		return []string{"-f", "-c", `compdef() { : }; _describe() { local c; for c in "${(@P)2}"; do print -r -- "${c%%:*}"; done }
compset() { [[ $PREFIX != --*=* ]] || PREFIX=${PREFIX#*=} }; _files() { [[ $1 == -/ ]] && print -rl -- $PREFIX*(N/) || print -rl -- $PREFIX*(N) }
source ./script.zsh; words=("${(@s: :)1}"); CURRENT=$#words; PREFIX=$words[CURRENT]; _purveyor`, "zsh", "purveyor " + line}
	},
	"fish": func(line string) []string {
		return []string{"--no-config", "-c", `source script.fish; complete -C $argv[1]`, "purveyor " + line}
	},
}
