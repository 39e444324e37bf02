package simulation

import (
	"slices"
)

// shrinker looks for a shorter history that breaks in the same way.
type shrinker struct {
	best  Options
	kind  string // of the first break
	tries int    // that are left
	lots  int    // of other luck that are tried for each change
}

// Shrink looks for fewer customers, kinds of trouble, hours and processes with which a
// history that breaks still does, in the same way. It plays at most tries histories, most of them
// much shorter than the first one. A history that does not break stays as it is.
func Shrink(o Options, tries int) Options {
	s := &shrinker{best: o, tries: tries, lots: 6}
	r := Run(o)
	if r.Breaks == 0 {
		return o
	}
	s.kind = r.Broken[0].Kind
	s.try(func(o *Options) { o.Calm = true }, 1)
	s.alone(r.Broken[0])
	s.fewer()
	for _, kind := range Troubles {
		s.try(func(o *Options) { o.Without = append(slices.Clone(o.Without), kind) }, s.lots)
	}
	s.try(func(o *Options) { o.Processes = 1 }, s.lots)
	if s.best.Processes > 2 {
		s.try(func(o *Options) { o.Processes = 2 }, s.lots)
	}
	for s.best.Hours > 1 && s.try(func(o *Options) { o.Hours /= 2 }, s.lots) {
	}
	s.fewer()
	return s.best
}

// try keeps a change if the history still breaks in the same way, with this luck or another.
func (s *shrinker) try(change func(*Options), lots int) bool {
	o := s.best
	change(&o)
	for luck := range uint64(lots) {
		if s.tries--; s.tries < 0 {
			return false
		}
		other := o
		if luck > 0 {
			other.Luck = o.Luck + luck
		}
		if r := Run(other); r.Breaks > 0 && r.Broken[0].Kind == s.kind {
			s.best = other
			return true
		}
	}
	return false
}

// alone tries the stories alone that a break names.
func (s *shrinker) alone(b Break) {
	if len(b.Stories) > 0 {
		s.try(func(o *Options) { o.Only = b.Stories }, 3*s.lots)
	}
}

// fewer leaves out stories: at first half of them at a time, in the end one by one.
func (s *shrinker) fewer() {
	if len(s.best.Only) == 0 {
		for n := range s.best.Orders {
			s.best.Only = append(s.best.Only, n)
		}
	}
	for size := len(s.best.Only) / 2; size > 0; {
		if !s.leaveOut(size) {
			size /= 2
		}
	}
}

// leaveOut tries to leave out so many neighbours, wherever they stand. It reports whether it
// could.
func (s *shrinker) leaveOut(size int) (smaller bool) {
	for from := 0; from+size <= len(s.best.Only) && size < len(s.best.Only); {
		rest := slices.Concat(s.best.Only[:from], s.best.Only[from+size:])
		if s.try(func(o *Options) { o.Only = rest }, max(1, min(s.lots, 60/len(rest)))) {
			smaller = true
		} else {
			from += size
		}
	}
	return smaller
}
