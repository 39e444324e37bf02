// Plant plants the faults of faults.txt in the code, one at a time, and has the simulator hunt
// for each. The code itself is not touched: the compiler reads the planted file in its place.
//
//	go run ./simulate/plant                 all faults, at most ten minutes each
//	go run ./simulate/plant -within 1m T14  the faults whose names have this in them
//	go run ./simulate/plant -check          only whether each fault can be planted
//	go run ./simulate/plant -engines        the faults of engines.txt instead, at true speed
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed faults.txt
var faults string

//go:embed engines.txt
var faultsOfEngines string

// fault is a change of one file: old stands there once, and is replaced.
type fault struct{ name, file, old, planted string }

func main() {
	within := flag.Duration("within", 10*time.Minute, "how long to hunt for each fault")
	check := flag.Bool("check", false, "hunt for nothing")
	engines := flag.Bool("engines", false, "plant the faults of the engines")
	flag.Parse()
	if *engines {
		faults = faultsOfEngines
	}
	list, err := parse(faults)
	if err != nil {
		fail(err)
	}
	found, planted := 0, 0
	for _, f := range list {
		if flag.NArg() > 0 && !strings.Contains(f.name, flag.Arg(0)) {
			continue
		}
		planted++
		text, err := f.plant()
		if err != nil {
			fail(err)
		}
		if *check {
			continue
		}
		is, err := f.hunt(text, *within)
		if err != nil {
			fail(err)
		}
		if is {
			found++
		}
	}
	fmt.Printf("%d faults, %d found\n", planted, found)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "plant:", err)
	os.Exit(2)
}

// parse reads the list. A line "== NAME" begins a fault, and the line after it names the file.
// Then follow the lines that stand there, with "- " before each, and those in their place,
// with "+ ". Other lines say more about the fault.
func parse(text string) (list []fault, err error) {
	for part := range strings.SplitSeq(text, "\n== ") {
		lines := strings.Split(part, "\n")
		if list == nil && !strings.HasPrefix(part, "== ") {
			list = []fault{} // what stands before the first fault
			continue
		}
		if len(lines) < 4 {
			return nil, fmt.Errorf("fault %q has no file, or no change", lines[0])
		}
		f := fault{name: lines[0], file: lines[1]}
		var old, planted []string
		for _, line := range lines[2:] {
			if text, is := strings.CutPrefix(line, "- "); is {
				old = append(old, text)
			} else if text, is := strings.CutPrefix(line, "+ "); is {
				planted = append(planted, text)
			}
		}
		f.old, f.planted = strings.Join(old, "\n"), strings.Join(planted, "\n")
		list = append(list, f)
	}
	return list, nil
}

// plant returns the text of the file with the fault.
func (f fault) plant() (string, error) {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), f.old); n != 1 || f.old == "" {
		return "", fmt.Errorf("%s: its text stands in %s %d times", f.name, f.file, n)
	}
	return strings.Replace(string(text), f.old, f.planted, 1), nil
}

// hunt builds the simulator with the planted text, and runs it until it finds something.
func (f fault) hunt(text string, within time.Duration) (found bool, err error) {
	work, err := os.MkdirTemp("", "plant-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	file, err := filepath.Abs(f.file)
	if err != nil {
		return false, err
	}
	planted, overlay, program := filepath.Join(work, "planted.go"), filepath.Join(work, "overlay.json"), filepath.Join(work, "simulate")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: planted}})
	if err = errors.Join(err, os.WriteFile(planted, []byte(text), 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		return false, err
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./simulate").CombinedOutput(); err != nil {
		return false, fmt.Errorf("%s does not compile: %s", f.name, out)
	}
	began := time.Now()
	out, err := exec.Command(program, append([]string{"-hunt", within.String(), "-first"}, f.history()...)...).CombinedOutput()
	took := time.Since(began).Round(time.Second)
	if exit, ended := errors.AsType[*exec.ExitError](err); err != nil && (!ended || exit.ExitCode() < 0) {
		return false, fmt.Errorf("the hunt for %s was cut off: %w", f.name, err)
	}
	if err == nil {
		fmt.Printf("NOT FOUND  %s, in %v\n", f.name, took)
		return false, nil
	}
	first, _, _ := strings.Cut(string(out), "\n\n")
	if first == "" {
		first = err.Error()
	}
	fmt.Printf("found      %s, after %v:\n%s\n", f.name, took, indented(first))
	return true, nil
}

// history is what is played: a fault of an engine needs that engine.
func (f fault) history() []string {
	if engine := filepath.Base(filepath.Dir(f.file)); engine == "sqlite" || engine == "postgres" {
		return []string{"-hours", "1", "-orders", "60", "-engine", engine}
	}
	return []string{"-hours", "3", "-orders", "300"}
}

// indented shows the beginning of what was found.
func indented(text string) string {
	const most = 400
	if len(text) > most {
		text = text[:most] + "..."
	}
	return "           " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n           ")
}
