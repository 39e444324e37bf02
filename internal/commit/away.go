package commit

import (
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

const (
	// awayPause is the time between two tries of commands that need a node which is away.
	// Others like them are refused meanwhile, because each try keeps the other commands waiting.
	awayPause = time.Second
	// awayTime is how long a failure is remembered.
	awayTime = 30 * time.Second
)

// away has the failures of nodes of a distributed database, by the owners of the rows that
// were needed from them: commands with the same owners need the same nodes.
type away struct {
	failures map[string]failure
	next     time.Time // try
}

// slotPause is the time between two tries to write to slots that could not be written.
const slotPause = 5 * time.Second

// slots are those in which jobs could not be written, because their node is away.
type slots struct {
	failed map[int64]bool
	next   time.Time // try of one of them
}

// slot returns the slot for the jobs of a batch. It leaves out the slots that failed, but for
// a try now and then, unless all did.
func (l *loop) slot(now commerce.Millis) int64 {
	const all = commerce.JobSlots
	s, try := int64(now)%all, !l.env.Now().Before(l.slots.next)
	for i := range int64(all) {
		if l.slots.failed[(s+i)%all] == try {
			return (s + i) % all
		}
	}
	return s
}

// slotTried remembers whether a slot could be written. If it could, its node is back, and so
// the others are tried as well.
func (l *loop) slotTried(slot int64, failed bool) {
	switch {
	case failed && l.slots.failed == nil:
		l.slots.failed = map[int64]bool{slot: true}
	case failed:
		l.slots.failed[slot] = true
	case l.slots.failed[slot]:
		clear(l.slots.failed)
	}
	if failed {
		l.slots.next = l.env.Now().Add(slotPause)
	}
}

type failure struct {
	err   error
	until time.Time // it is remembered
}

func (a *away) add(name string, err error, now time.Time) {
	if a.failures == nil {
		a.failures = map[string]failure{}
	}
	a.failures[name] = failure{err, now.Add(awayTime)}
	if !now.Before(a.next) { // else failures of one node would put off the tries of others
		a.next = now.Add(awayPause)
	}
}

// apart tries the commands of a batch that failed because a node is away: those with the same
// owners together, so that the commands of other nodes take place.
func (l *loop) apart(batch []*call, err error) {
	groups := byNodes(batch)
	if len(groups) == 1 {
		l.away.add(nodesOf(batch[0]), err, l.env.Now())
		answerAll(batch, err)
		return
	}
	for _, g := range groups {
		l.commit(g)
	}
}

// byNodes returns the calls that need the same nodes together, in the order of the batch.
func byNodes(batch []*call) (groups [][]*call) {
	at := map[string]int{}
	for _, p := range batch {
		name := nodesOf(p)
		i, met := at[name]
		if !met {
			i, at[name] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

// present returns the calls of a batch that need no node which was found away, and those that do.
func (l *loop) present(batch []*call) (others, suspects []*call) {
	if len(l.away.failures) == 0 {
		return batch, nil
	}
	now := l.env.Now()
	for name, f := range l.away.failures {
		if !now.Before(f.until) {
			delete(l.away.failures, name)
		}
	}
	for _, p := range batch {
		if _, is := l.away.failures[nodesOf(p)]; is {
			suspects = append(suspects, p)
		} else {
			others = append(others, p)
		}
	}
	return others, suspects
}

// probe tries calls that need a node which was found away, one group of them now and then.
// If the group takes place, the node is back, and the other groups are tried as well.
func (l *loop) probe(suspects []*call) {
	for _, g := range byNodes(suspects) {
		name := nodesOf(g[0])
		f, away := l.away.failures[name]
		if away && l.env.Now().Before(l.away.next) {
			answerAll(g, f.err)
			continue
		}
		if l.attempt(g) {
			clear(l.away.failures)
		} else {
			l.away.next = l.env.Now().Add(awayPause)
		}
	}
}

// nodesOf names what decides which nodes a command needs.
func nodesOf(p *call) string {
	owners := schema.Nodes(&p.needs)
	slices.Sort(owners)
	return strings.Join(owners, " ")
}
