package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"purveyor/internal/simulation"
)

// shrinkTries bounds how many histories are played to find a shorter one.
const shrinkTries = 24

// shrink looks for fewer customers, hours and processes with which a seed that fails still
// does.
func shrink(o simulation.Options) simulation.Options {
	tries := 0
	fails := func(o simulation.Options) bool {
		tries++
		r, err := play(o)
		return err == nil && r.Breaks > 0
	}
	for smaller := true; smaller; {
		smaller = false
		for _, change := range []func(*simulation.Options){
			func(o *simulation.Options) { o.Orders = max(1, o.Orders/4) },
			func(o *simulation.Options) { o.Orders = max(1, o.Orders*2/3) },
			func(o *simulation.Options) { o.Hours = max(1, o.Hours/2) },
			func(o *simulation.Options) { o.Processes = 1 },
			func(o *simulation.Options) { o.Calm = true },
		} {
			less := o
			if change(&less); less != o && tries < shrinkTries && fails(less) {
				o, smaller = less, true
			}
		}
	}
	return o
}

// mostLines is how much of a story is shown.
const mostLines = 60

var names = regexp.MustCompile(`ord_[0-9a-z_]+|story \d+|prd_\d+_\d+|evt_[0-9a-z]+`)

// tell plays a history that fails again, and shows what happened to the order, the product or
// the event that broke first.
func tell(o simulation.Options) {
	var text bytes.Buffer
	o.History = &text
	r, err := play(o)
	if err != nil || r.Breaks == 0 {
		return
	}
	name := names.FindString(r.Broken[0])
	var lines []string
	for line := range strings.SplitSeq(text.String(), "\n") {
		if name != "" && strings.Contains(line, name) || strings.Contains(line, "BROKEN") || strings.Contains(line, " is killed") {
			lines = append(lines, shortened(line))
		}
		if strings.Contains(line, "BROKEN") {
			break
		}
	}
	fmt.Printf("\nThe story of %s:\n", name)
	for _, line := range lines[max(0, len(lines)-mostLines):] {
		fmt.Println(line)
	}
	fmt.Println("\nTo play it again:\n\t" + command(o))
}

// shortened is a line that fits a screen.
func shortened(line string) string {
	const most = 240
	if len(line) > most {
		return line[:most] + "..."
	}
	return line
}

// command plays a history again.
func command(o simulation.Options) string {
	text := fmt.Sprintf("go run ./simulate -seed %d -processes %d -hours %d -orders %d", o.Seed, o.Processes, o.Hours, o.Orders)
	if o.Database != "" {
		text += " -engine " + o.Database
	}
	if o.Calm {
		text += " -calm"
	}
	return text
}
