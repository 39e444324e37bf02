package commit

import (
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// awayPause is how long commands are refused without a try whose node is away. Each try
// costs their neighbours the time of a failed batch.
const awayPause = time.Second

// away has the failures of nodes of a distributed database, by the owners of the rows that
// were needed from them: commands with the same owners need the same nodes.
type away map[string]failure

// slotPause is how long no job is put into a slot that could not be written.
const slotPause = 5 * time.Second

// slot returns the slot for the jobs of a batch. It leaves out the slots whose node is away,
// unless all are.
func (l *loop) slot(now commerce.Millis) int64 {
	slot := int64(now) % commerce.JobSlots
	for i := range int64(commerce.JobSlots) {
		s := (slot + i) % commerce.JobSlots
		if until, failed := l.slots[s]; !failed || !l.env.Now().Before(until) {
			delete(l.slots, s)
			return s
		}
	}
	return slot
}

// slotFailed remembers a slot that could not be written.
func (l *loop) slotFailed(slot int64) {
	if l.slots == nil {
		l.slots = map[int64]time.Time{}
	}
	l.slots[slot] = l.env.Now().Add(slotPause)
}

type failure struct {
	err   error
	until time.Time // no command is tried before
}

// apart tries the commands of a batch that failed because a node is away: those with the same
// owners together, so that the commands of other nodes take place.
func (l *loop) apart(batch []*call, err error) {
	of := map[string][]*call{}
	var names []string // in the order of the batch
	for _, p := range batch {
		name := nodesOf(p)
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], p)
	}
	if len(names) == 1 {
		if l.away == nil {
			l.away = away{}
		}
		l.away[names[0]] = failure{err, l.env.Now().Add(awayPause)}
		answerAll(batch, err)
		return
	}
	for _, name := range names {
		l.commit(of[name])
	}
}

// refuseAway answers the commands that need a node that is away, and returns the others.
func (l *loop) refuseAway(batch []*call) (others []*call) {
	if len(l.away) == 0 {
		return batch
	}
	now := l.env.Now()
	for name, f := range l.away {
		if !now.Before(f.until) {
			delete(l.away, name)
		}
	}
	for _, p := range batch {
		if f, is := l.away[nodesOf(p)]; is {
			p.answer(f.err)
			continue
		}
		others = append(others, p)
	}
	return others
}

// nodesOf names what decides which nodes a command needs.
func nodesOf(p *call) string {
	owners := schema.Nodes(&p.needs)
	slices.Sort(owners)
	return strings.Join(owners, " ")
}
