package certify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// stage is a step of the script: it may have acts done first, then gives a task, and looks at what
// the integration does until it is over.
type stage struct {
	group  Group
	number int               // of its order; 0: it is about none
	post   Post              // how events of the order are sent; empty: as always
	before func(r Run) []Act // done before the task is given
	task   func(r Run) Task  // nil: none
	look   func(v *view) bool
	// late is what each check is told that is pending when patience ends. With gate, the
	// rest of the group is of no use then.
	late map[string]string
	gate bool
	wait time.Duration // the least patience; 0: leastPatience
	// skip says why the stage, and with it the checks of late, cannot be tried; empty: it can.
	skip func(r Run) string
}

// How long a stage may take. Until the first task is begun, there is no telling whether a program or a
// person acts: then it is the rest of the run. Later it is so much more than the longest time that a stage took.
const (
	leastPatience = 30 * time.Second
	patienceTimes = 10
	mostPatience  = 10 * time.Minute
)

// Step moves a run on as far as what was seen allows. It returns what is to be done before the next
// step; with acts, the next step should follow at once.
func Step(r Run, seen Seen, now commerce.Millis) (Run, []Act) {
	r = r.clone()
	r.learn(seen, now)
	for r.State == Running {
		if now >= r.EndsOn {
			r.State, r.Tasks = Ended, nil
			break
		}
		if r.Stage < 0 {
			r.next(now, false)
			continue
		}
		s := stages[r.Stage]
		v := &view{Run: &r, Seen: seen, now: now, stage: s}
		if s.skip != nil && s.skip(r) != "" {
			v.all(s.late, CheckSkipped, s.skip(r))
			r.next(now, false)
			continue
		}
		if v.prepare(); len(v.acts) > 0 {
			return r, v.acts
		}
		over := s.look(v)
		switch {
		case len(v.acts) > 0:
			return r, v.acts
		case over:
			r.Slowest = max(r.Slowest, now-r.StageOn)
			r.next(now, false)
		case now.Sub(r.StageOn) > v.patience():
			for id, message := range s.late {
				v.fail(id, message)
			}
			r.next(now, s.gate)
		default:
			return r, nil
		}
	}
	return r, nil
}

// Did notes that an act is done. forged is what became of a webhook that it sent.
func (r Run) Did(a Act, forged Forged) Run {
	r = r.clone()
	r.Done = append(r.Done, a.Key)
	if a.Forge != "" {
		r.Forged[a.Forge] = forged
	}
	return r
}

func (r Run) clone() Run {
	r.Done, r.Tasks, r.Checks = slices.Clone(r.Done), slices.Clone(r.Tasks), slices.Clone(r.Checks)
	r.Posts, r.Forged, r.Orders, r.Marks = copied(r.Posts), copied(r.Forged), copied(r.Orders), copied(r.Marks)
	return r
}

func copied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

// learn notes the ids of orders that reports have made, and how soon the first task was begun.
func (r *Run) learn(seen Seen, now commerce.Millis) {
	for _, q := range seen.Requests {
		if r.Slowest == 0 && slices.Contains(keyed, q.Operation) && q.began() >= r.StageOn {
			r.Slowest = max(1, now-r.StageOn)
		}
		if q.ok() && q.ExternalID != "" && q.OrderID != "" {
			r.Orders[q.ExternalID] = q.OrderID
		}
	}
}

// next goes to the next stage of the run's groups, without the rest of this group if it is over.
func (r *Run) next(now commerce.Millis, groupOver bool) {
	var of Group
	if r.Stage >= 0 {
		of = stages[r.Stage].group
	}
	r.Tasks, r.StageOn, r.Marks = nil, now, map[string]int64{}
	for r.Stage++; r.Stage < len(stages); r.Stage++ {
		if g := stages[r.Stage].group; slices.Contains(r.Groups, g) && !(groupOver && g == of) {
			return
		}
	}
	r.State = Passed
	for _, c := range r.Checks {
		if c.State == CheckFailed || c.State == CheckPending {
			r.State = Failed
		}
	}
}

// number is our number of an order of the script, which no other run has.
func (r Run) number(n int) string { return fmt.Sprintf("CERT-%s-%d", r.short(), n) }

func (r Run) short() string { return r.ID[max(0, len(r.ID)-8):] }

// PostOf is how an event is to be sent at its first try: one of the order with that external id.
func (r Run) PostOf(externalID string) Post {
	if r.Over() {
		return ""
	}
	return r.Posts[externalID]
}

// view is what a stage looks at.
type view struct {
	*Run
	Seen
	now   commerce.Millis
	stage stage
	acts  []Act
}

// prepare has done what comes before the task, and gives it.
func (v *view) prepare() {
	if v.stage.post != "" {
		v.Posts[v.number(v.stage.number)] = v.stage.post
	}
	if v.stage.before != nil {
		for _, a := range v.stage.before(*v.Run) {
			v.do(a)
		}
	}
	if len(v.acts) == 0 && v.stage.task != nil && len(v.Tasks) == 0 {
		v.Tasks = []Task{v.stage.task(*v.Run)}
		v.StageOn = v.now
	}
}

// do has an act done once, and reports whether it is done. Its key is completed.
func (v *view) do(a Act) bool {
	a.Key = fmt.Sprintf("%s %d %s", v.ID, v.Stage, cmp.Or(a.Key, string(a.Fault), string(a.Forge), a.Do))
	if slices.Contains(v.Done, a.Key) {
		return true
	}
	v.acts = append(v.acts, a)
	return false
}

func (v *view) patience() time.Duration {
	if v.Slowest == 0 {
		return RunLife
	}
	return max(leastPatience, v.stage.wait, min(mostPatience, patienceTimes*time.Duration(v.Slowest)*time.Millisecond))
}

// calls are those of an operation about the stage's order n.
func (v *view) calls(operation string, n int) (list []Request) {
	number := v.number(n)
	for _, q := range v.Requests {
		if q.Operation == operation && (q.ExternalID == number || q.OrderID != "" && q.OrderID == v.Run.Orders[number]) {
			list = append(list, q)
		}
	}
	return list
}

// since are the calls of an operation that began in this stage.
func (v *view) since(operation string) (list []Request) {
	for _, q := range v.Requests {
		if q.Operation == operation && q.began() >= v.StageOn {
			list = append(list, q)
		}
	}
	return list
}

func (v *view) order(n int) (commerce.Order, bool) {
	o, ok := v.Seen.Orders[v.number(n)]
	return o, ok
}

func (v *view) events(n int) []Event { return v.Seen.Events[v.number(n)] }

// happened is the event of that kind of an order.
func (v *view) happened(n int, kind commerce.WebhookKind) (Event, bool) {
	list := v.events(n)
	i := slices.IndexFunc(list, func(e Event) bool { return e.Kind == kind })
	if i < 0 {
		return Event{}, false
	}
	return list[i], true
}

// decide settles a check by whether it holds.
func (v *view) decide(id string, holds bool, message string, shown ...Request) {
	if holds {
		v.settle(id, CheckPassed, "", shown)
	} else {
		v.fail(id, message, shown...)
	}
}

func (v *view) fail(id, message string, shown ...Request) {
	if v.Lost > 0 {
		message += fmt.Sprintf(" (the log of requests has dropped %d rows meanwhile, so this may be wrong; run it again)", v.Lost)
	}
	v.settle(id, CheckFailed, message, shown)
}

func (v *view) all(checks map[string]string, state Verdict, message string) {
	for id := range checks {
		v.settle(id, state, message, nil)
	}
}

// settle gives a check its verdict, unless it has one.
func (v *view) settle(id string, state Verdict, message string, shown []Request) {
	i := slices.IndexFunc(v.Checks, func(c Check) bool { return c.ID == id })
	if i < 0 || v.Checks[i].State != CheckPending {
		return
	}
	c := &v.Checks[i]
	c.State, c.Message = state, strings.ReplaceAll(message, "{order}", v.number(v.stage.number))
	for _, q := range shown[:min(len(shown), mostShown)] {
		c.TraceIDs = append(c.TraceIDs, q.TraceID)
	}
}

// mostShown is how many calls a check names.
const mostShown = 5
