package commit

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
)

// stopwatch measures one try of a batch for the meter; nil: there is none.
type stopwatch struct {
	loop               *loop
	commands           int
	wait, load, decide time.Duration
	save               time.Duration
	mark               time.Time
	deeds              []commerce.Deed
}

func (l *loop) stopwatch(batch []*call) *stopwatch {
	if l.meter == nil {
		return nil
	}
	w := &stopwatch{loop: l, commands: len(batch), mark: l.env.Now(), deeds: l.deeds[:0]}
	oldest := w.mark
	for _, p := range batch {
		if p.asked.Before(oldest) {
			oldest = p.asked
		}
	}
	w.wait = w.mark.Sub(oldest)
	return w
}

// lap is the time since the lap before.
func (w *stopwatch) lap() time.Duration {
	now := w.loop.env.Now()
	d := now.Sub(w.mark)
	w.mark = now
	return d
}

func (w *stopwatch) loaded() {
	if w != nil {
		w.load = w.lap()
	}
}

func (w *stopwatch) did(c *commerce.Changes, now commerce.Millis) {
	if w != nil {
		w.deeds = c.Deeds(w.deeds, now)
	}
}

func (w *stopwatch) decided() {
	if w != nil {
		w.decide = w.lap()
	}
}

func (w *stopwatch) saved(ok bool) {
	if w == nil {
		return
	}
	w.save = w.lap()
	if ok {
		w.loop.meter.Deeds(w.deeds)
	}
}

func (w *stopwatch) told() {
	if w != nil {
		w.loop.meter.Batch(w.commands, w.wait, w.load, w.decide, w.save)
		w.loop.deeds = w.deeds
	}
}

// reached tells the spans of a batch where it is.
func (l *loop) reached(batch []*call, phase string) {
	if l.tracer == nil {
		return
	}
	for _, p := range batch {
		p.span.Reached(phase)
		p.span.Number("purveyor.batch.commands", len(batch))
	}
}

var names sync.Map // types of commands to their names

// nameOf is the name of a command's type, without what is around it.
func nameOf(cmd any) string {
	for {
		around, ok := cmd.(interface{ Inner() any })
		if !ok {
			break
		}
		cmd = around.Inner()
	}
	t := reflect.TypeOf(cmd)
	if name, known := names.Load(t); known {
		return name.(string)
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	names.Store(t, name)
	return name
}
