package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// coreCounts are the numbers of cores that rates are measured with.
var coreCounts = []int{1, 2, 4}

// The least ratio of the default number of writers to one writer, by cores.
var targetWriters = map[int]float64{2: 0.95, 4: 1.6}

// manyCores is the number of cores from which the targets of reports are higher.
const manyCores = 4

// byCores is a target that depends on the cores of the machine.
func (b *bench) byCores(few, many float64) float64 {
	if b.cores.Count() < manyCores {
		return few
	}
	return many
}

// countsOn are the numbers of cores that a machine with so many can show. A quick
// run shows the largest of them, so that it slows no other test down.
func countsOn(cores int, quick bool) []int {
	counts := slices.DeleteFunc(slices.Clone(coreCounts), func(n int) bool { return n > cores })
	if quick {
		return counts[len(counts)-1:]
	}
	return counts
}

// limitsCores shows how the main rates grow with the cores that service, database,
// baseline and load generator share.
func limitsCores(s *stage) {
	defer s.confine(s.cores.Count())
	counts := countsOn(s.cores.Count(), s.quick)
	rates, names := s.ratesByCores(counts)
	head := []string{s.engine}
	for _, n := range coreCounts {
		head = append(head, plural(n, "core"))
	}
	for _, n := range coreCounts[1:] {
		head = append(head, fmt.Sprintf("%d to %d", n, coreCounts[0]))
	}
	all := [][]string{head}
	for _, name := range names {
		all = append(all, growth(name, rates[name]))
	}
	s.report.note("Requests/s by cores, which service, database, pgbench and load generator share:\n\n%s", table(all))
	if s.cores.Count() < slices.Max(coreCounts) {
		s.report.note("Columns are empty where this machine has too few cores: it has %d.", s.cores.Count())
	}
	if s.engine == postgresEngine {
		for _, n := range counts {
			if n > 1 {
				s.compareWriters(n)
			}
		}
	}
}

// ratesByCores measures each rate with each number of cores. It returns the sides by
// the name of the rate and the number of cores, and the names in their order.
func (s *stage) ratesByCores(counts []int) (sides map[string]map[int]*side, names []string) {
	c, sides := s.list[0], map[string]map[int]*side{}
	var turns []*side
	for _, n := range counts {
		for _, rate := range s.mainRates() {
			if sides[rate.name] == nil {
				sides[rate.name] = map[int]*side{}
				names = append(names, rate.name)
			}
			confined := &side{name: rate.name + ", " + c.name + ", " + plural(n, "core"), run: func() measurement {
				s.confine(n)
				return rate.run()
			}}
			sides[rate.name][n] = confined
			turns = append(turns, confined)
		}
	}
	alternate(s.pace, turns...)
	for _, t := range turns {
		s.report.figures(t) // a failed request fails the run
	}
	return sides, names
}

// mainRates are the rates that users of the service notice most, and their baselines
// in PostgreSQL.
func (s *stage) mainRates() []*side {
	c := s.list[0]
	const least = 200 // bytes of an answer
	reading := func(paths []string) func() measurement {
		return func() measurement {
			return c.load(func() []caller { return getters(anyOf(paths), c.key(), least) })
		}
	}
	list := []*side{
		{name: "one product", run: reading(pathsOf(allGoods(c.busy())))},
		{name: "page of 100 products", run: reading(storePages(c))},
		{name: "one order", run: reading(s.someOrders(c))},
		{name: "reports, spread", run: func() measurement { return reportSpread(c) }},
		{name: "reports, two hot products", run: func() measurement { return reportHot(c) }},
	}
	if s.engine == postgresEngine {
		list = append(list, s.pgbenchSide("pgbench, spread", "spread"), s.pgbenchSide("pgbench, two hot products", "hot"))
	}
	return list
}

// growth is a line of the table of rates: the rates, and by how much they grow.
func growth(name string, rates map[int]*side) []string {
	line := []string{name}
	for _, n := range coreCounts {
		cell := ""
		if rates[n] != nil {
			cell = thousands(int(rates[n].median(rateOf)))
		}
		line = append(line, cell)
	}
	for _, n := range coreCounts[1:] {
		cell := ""
		if first := rates[coreCounts[0]]; rates[n] != nil && first != nil {
			cell = spread(ratio(rates[n], first, rateOf))
		}
		line = append(line, cell)
	}
	return line
}

// compareWriters compares the service as it is by default with one that writes one
// batch at a time. On two cores these are nearly the same, so that only many rounds
// tell a loss from chance.
func (s *stage) compareWriters(n int) {
	c := s.list[0]
	on := func(title string, flags ...string) *side {
		return &side{name: title + ", " + c.name + ", " + plural(n, "core"), run: func() measurement {
			s.confine(n)
			return c.load(c.reporters, flags...)
		}}
	}
	several, one := on("reports, spread, default writers against one"), on("  reports, spread, one writer", "--writers", "1")
	long := s.pace
	long.Rounds *= 2
	alternate(long, several, one)
	s.report.compare(several, one, targetWriters[n], "")
	s.report.show(one)
}

// confine lets all of the measurement run on the first n cores alone. The services
// are stopped, because each takes its number of threads and writers from the cores
// that it finds at its start.
func (s *stage) confine(n int) {
	if n == s.confined {
		return
	}
	for _, c := range s.list {
		check(c.stop())
	}
	check(confine(firstOf(s.cores, n)))
	runtime.GOMAXPROCS(n)
	s.confined = n
}

// allowed are the cores that this process may run on.
func allowed() (set unix.CPUSet) {
	check(unix.SchedGetaffinity(0, &set))
	return set
}

// firstOf are the first n cores of a set.
func firstOf(all unix.CPUSet, n int) (set unix.CPUSet) {
	n = min(n, all.Count())
	for core := 0; set.Count() < n; core++ {
		if all.IsSet(core) {
			set.Set(core)
		}
	}
	return set
}

// confine confines the threads of this process, and those of all processes that it
// started, to some cores. What they start later inherits that. A thread may start
// another one meanwhile, so it looks until it finds none outside.
func confine(to unix.CPUSet) error {
	for outside := true; outside; {
		outside = false
		for _, pid := range family(os.Getpid()) {
			threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)) // none if the process has ended
			for _, path := range threads {
				thread, err := strconv.Atoi(filepath.Base(path))
				if err != nil {
					return err
				}
				var now unix.CPUSet
				if err = unix.SchedGetaffinity(thread, &now); err == nil && now != to {
					outside = true
					err = unix.SchedSetaffinity(thread, &to)
				}
				if err != nil && !errors.Is(err, unix.ESRCH) {
					return fmt.Errorf("confine process %d to %d cores: %w", pid, to.Count(), err)
				}
			}
		}
	}
	return nil
}

// family is a process and all that descend from it.
func family(root int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		check(err)
		_, rest, _ := strings.Cut(string(text), ") ") // after the name: state, parent
		if fields := strings.Fields(rest); len(fields) > 1 {
			parent := must(strconv.Atoi(fields[1]))
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}
