package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// The reasons why no test sees a mutant.
const (
	equivalent = "equivalent" // it behaves as the code does
	speed      = "speed"      // it is only slower, or takes more memory
	text       = "text"       // it changes only words for people
)

// survivors has the reason of each survivor, by its key.
type survivors map[string]string

// readSurvivors reads a file of lines REASON, FUNCTION, OLD => NEW, EXPLANATION with
// tabs between them.
func readSurvivors(path string) (survivors, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return survivors{}, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	s := survivors{}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "\t")
		if len(parts) != 4 || parts[3] == "" {
			return nil, fmt.Errorf("%s:%d: not REASON, FUNCTION, CHANGE, EXPLANATION with tabs between them", path, n)
		}
		if r := parts[0]; r != equivalent && r != speed && r != text {
			return nil, fmt.Errorf("%s:%d: %q is not equivalent, speed or text", path, n, r)
		}
		s[parts[1]+"\t"+parts[2]] = parts[0]
	}
	return s, lines.Err()
}

// report prints the figures. It reports whether every survivor has its reason, and every
// reason its survivor.
func report(w io.Writer, outcomes []outcome, reasons survivors, only *regexp.Regexp) bool {
	counts := map[string]int{}
	stale := survivors{}
	for key, r := range reasons {
		if only.MatchString(key) {
			stale[key] = r
		}
	}
	var missing []outcome
	for _, x := range outcomes {
		counts["mutants"]++
		if !x.covered {
			counts["not covered"]++
			delete(stale, x.key)
			continue
		}
		switch {
		case x.ended == failed:
			counts["killed"]++
		case x.ended == timedOut:
			counts["timed out"]++
		case reasons[x.key] == "":
			missing = append(missing, x)
		default:
			counts[reasons[x.key]]++
			delete(stale, x.key)
		}
	}
	for _, x := range missing {
		fmt.Fprintf(w, "survives: %s\t%s\n", x.line, x.key)
	}
	for key := range stale {
		fmt.Fprintf(w, "has a reason, and does not survive: %s\n", key)
	}
	covered := counts["mutants"] - counts["not covered"]
	fmt.Fprintf(w, "%d mutants, %d not covered, %d covered: %d killed, %d timed out, %d survive (%d equivalent, %d speed, %d text, %d without a reason)\n",
		counts["mutants"], counts["not covered"], covered, counts["killed"], counts["timed out"],
		counts[equivalent]+counts[speed]+counts[text]+len(missing), counts[equivalent], counts[speed], counts[text], len(missing))
	if n := covered - counts[equivalent]; n > 0 {
		fmt.Fprintf(w, "score: %.1f %% of the covered mutants that are not equivalent\n", 100*float64(counts["killed"]+counts["timed out"])/float64(n))
	}
	return len(missing) == 0 && len(stale) == 0
}
