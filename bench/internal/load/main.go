package load

import (
	"flag"
	"fmt"
	"os"
)

// Hidden runs the part of a benchmark that is a process of its own, if that is
// what was called.
type Hidden func(args []string) (called bool, err error)

// Profiled is the Hidden of benchmarks that run the service by With.
func Profiled(args []string) (bool, error) {
	if len(args) < 4 || args[0] != "profiled" {
		return false, nil
	}
	ctx, stop := UntilSignal()
	defer stop()
	return true, ServeProfiled(ctx, args[1], args[2], args[3], args[4:]...)
}

// Main is the main function of a benchmark: a hidden command, or the report of
// what its flags ask for.
func Main(name string, hidden Hidden, fromFlags func() (string, error)) {
	done, err := hidden(os.Args[1:])
	if !done {
		var text string
		if text, err = fromFlags(); text != "" {
			fmt.Println(text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// ParseFlags reads the command line, on which there are flags alone.
func ParseFlags() error {
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not understood", flag.Args())
	}
	return nil
}
