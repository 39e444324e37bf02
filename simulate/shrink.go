package main

import (
	"fmt"
	"strings"

	"purveyor/internal/simulation"
)

// shrinkTries bounds how many histories are played to find a shorter one.
const shrinkTries = 250

// tellShrunk looks for a short history that breaks as that of a seed, and tells its story.
func tellShrunk(o simulation.Options) {
	if o.Database != "" {
		fmt.Println("A history at true speed differs each time, so it is neither made shorter nor told.")
		return
	}
	fmt.Printf("\nLooking for a shorter history of seed %d that breaks, too...\n", o.Seed)
	o = simulation.Shrink(o, shrinkTries)
	fmt.Printf("\n%s\nTo play it again:\n\t%s -tell\n", simulation.Tell(o), command(o))
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
	if o.Luck > 0 {
		text += fmt.Sprint(" -luck ", o.Luck)
	}
	if len(o.Only) > 0 {
		text += " -only " + strings.ReplaceAll(strings.Trim(fmt.Sprint(o.Only), "[]"), " ", ",")
	}
	switch len(o.Without) {
	case 0:
	case len(simulation.Troubles):
		text += " -without all"
	default:
		text += " -without " + strings.Join(o.Without, ",")
	}
	return text
}
