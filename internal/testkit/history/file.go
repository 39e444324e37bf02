package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Note is something that happened to the processes or the database, for the reader of a file.
type Note struct {
	At   int64 // as Op.Call
	Text string
}

// Write writes a part that has no order to two files in a folder, which is made: NAME.txt, which
// Read reads, and NAME.html, which shows how far porcupine got. It returns the path of the first.
func Write(folder, name string, part []Op, notes []Note) (path string, err error) {
	result, info := porcupine.CheckOperationsVerbose(model, operations(part), limit)
	folder, err = filepath.Abs(folder)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, name)
	info.AddAnnotations(annotations(notes))
	return path + ".txt", errors.Join(os.WriteFile(path+".txt", []byte(text(path, part, notes, result, info)), 0o644), porcupine.VisualizePath(model, info, path+".html"))
}

func annotations(notes []Note) (list []porcupine.Annotation) {
	for _, n := range notes {
		list = append(list, porcupine.Annotation{Tag: "faults", Start: n.At, Description: n.Text})
	}
	return list
}

// text is the story in words, with each line behind a #, and then one line of JSON for each attempt.
func text(path string, part []Op, notes []Note, result porcupine.CheckResult, info porcupine.LinearizationInfo) string {
	var b strings.Builder
	verdict := "no order of these calls explains all answers"
	if result == porcupine.Unknown {
		verdict = fmt.Sprint("no order was found in ", limit)
	}
	fmt.Fprintf(&b, "# %s: %s. ? stands before those that the longest order found leaves out, and - before those that tell nothing more.\n", part[0].Of, verdict)
	fmt.Fprintf(&b, "# Check again: go test ./internal/testkit/history -count=1 -run '^TestFile$' -args -file %s.txt\n# Porcupine's picture of it: %s.html\n#\n", path, path)
	in := func(list []porcupine.Operation, op Op) bool {
		return slices.ContainsFunc(list, func(o porcupine.Operation) bool { return same(o.Input.(Op), op) })
	}
	all, longest := operations(part), longest(info)
	for _, op := range part {
		for len(notes) > 0 && notes[0].At < op.Call {
			fmt.Fprintf(&b, "# %9.3f ms            %s\n", float64(notes[0].At)/1000, notes[0].Text)
			notes = notes[1:]
		}
		mark := " "
		switch {
		case !in(all, op):
			mark = "-"
		case !in(longest, op):
			mark = "?"
		}
		fmt.Fprintf(&b, "#%s%9.3f to %9.3f ms  client %2d at process %d: %s\n", mark, float64(op.Call)/1000, float64(op.Return)/1000, op.Client, op.Process, op)
	}
	for _, op := range part {
		line, _ := json.Marshal(op) // it has strings and numbers alone
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}

func same(a, b Op) bool { return a.Call == b.Call && a.Client == b.Client && a.String() == b.String() }

func longest(info porcupine.LinearizationInfo) (most []porcupine.Operation) {
	for _, orders := range info.PartialLinearizationsOperations() {
		for _, order := range orders {
			if len(order) > len(most) {
				most = order
			}
		}
	}
	return most
}

// Read returns the attempts of a file.
func Read(path string) (part []Op, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var op Op
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		part = append(part, op)
	}
	return part, lines.Err()
}
