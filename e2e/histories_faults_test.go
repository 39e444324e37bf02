package e2e_test

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
)

// Of failoverEvery histories one has the database fail over.
const failoverEvery = 20

// faults lets a process pause, and another thing happen after that or meanwhile, and then one more.
func (r *recorder) faults(random *rand.Rand) {
	r.t.Helper()
	r.work(random)
	resume := r.pause(random)
	r.work(random)
	if random.IntN(2) == 0 {
		resume()
		r.work(random)
	}
	faults := []func(*rand.Rand){r.kill, r.killAtAnswer, r.cutDatabase, r.cutDatabase, r.databaseAway, r.loseAnswers, r.restartDatabase}
	faults[random.IntN(len(faults))](random)
	r.work(random)
	resume()
	r.work(random)
	fault := faults[random.IntN(len(faults))]
	if r.seed%failoverEvery == failoverEvery/2 {
		fault = r.failover
	}
	fault(random)
	r.work(random)
	r.work(random)
}

// work waits until the clients have made some more calls, but not for long: they may all wait for
// a process that is paused, or without its database.
func (r *recorder) work(random *rand.Rand) {
	until := r.calls() + 30 + random.IntN(40)
	for deadline := time.Now().Add(time.Second); r.calls() < until && time.Now().Before(deadline); {
		time.Sleep(pollPause)
	}
}

func (r *recorder) any(random *rand.Rand) (i int, m *recorded) {
	i = random.IntN(len(r.members))
	return i, r.members[i]
}

// pause stops a process, which may hold locks and have calls in hand, for as long as the caller
// wants and at most 2 s.
func (r *recorder) pause(random *rand.Rand) (resume func()) {
	i, m := r.any(random)
	paused := m.process // it may be killed meanwhile
	r.note("process %d is paused", i)
	paused.signal(syscall.SIGSTOP)
	resume = sync.OnceFunc(func() {
		_ = paused.cmd.Process.Signal(syscall.SIGCONT)
		r.note("process %d goes on", i)
	})
	time.AfterFunc(2*time.Second, resume)
	return resume
}

// kill ends a process at any moment, and starts another one.
func (r *recorder) kill(random *rand.Rand) {
	i, m := r.any(random)
	r.replace(i, m)
}

// killAtAnswer kills a process between the commit of a change and its answer.
func (r *recorder) killAtAnswer(random *rand.Rand) {
	i, m := r.any(random)
	r.hits(m.proxy.CutAt(faultproxy.ToClient, anAnswer, false))
	r.replace(i, m)
}

func (r *recorder) replace(i int, m *recorded) {
	r.note("process %d is killed", i)
	m.process.kill()
	m.down.Store(true)
	m.proxy.SetMode(faultproxy.Refuse) // another program may have the port by now
	m.process = m.shop.start()
	m.ready()
	r.note("process %d is back", i)
}

// hits waits until a connection is cut. It need not be: the process may be paused.
func (r *recorder) hits(cut <-chan struct{}) {
	select {
	case <-cut:
	case <-time.After(time.Second):
	}
}

// cutDatabase cuts connections of a process to its database: anywhere, just before a commit is
// answered, and just after.
func (r *recorder) cutDatabase(random *rand.Rand) {
	for range 6 {
		i, m := r.any(random)
		switch random.IntN(4) {
		case 0:
			r.hits(m.database.CutAfter(faultproxy.ToServer, 1+random.IntN(8000)))
		case 1:
			r.hits(m.database.CutAfter(faultproxy.ToClient, 1+random.IntN(8000)))
		default:
			r.hits(m.database.CutAt(faultproxy.ToClient, faultproxy.Saved, random.IntN(2) == 0))
		}
		r.note("process %d has lost a connection to the database", i)
		if random.IntN(4) == 0 {
			m.database.CutAll()
		}
	}
}

// databaseAway takes the database from a process, or from all.
func (r *recorder) databaseAway(random *rand.Rand) {
	i, m := r.any(random)
	cut := []*recorded{m}
	if random.IntN(3) == 0 {
		cut = r.members[:]
	}
	mode := []faultproxy.Mode{faultproxy.Refuse, faultproxy.Blackhole}[random.IntN(2)]
	r.note("process %d and %d others lose the database: %v", i, len(cut)-1, mode)
	for _, m := range cut {
		m.database.SetMode(mode)
		m.database.CutAll()
	}
	r.work(random)
	for _, m := range cut {
		m.database.SetMode(faultproxy.Forward)
		m.database.CutAll() // what waits for an answer that never comes
	}
	r.note("the database is there again")
}

// loseAnswers cuts clients off just before the end of an answer.
func (r *recorder) loseAnswers(random *rand.Rand) {
	for range 4 {
		i, m := r.any(random)
		r.hits(m.proxy.CutAt(faultproxy.ToClient, anAnswer, false))
		r.note("an answer of process %d is lost", i)
	}
}

func (r *recorder) restartDatabase(*rand.Rand) {
	r.t.Helper()
	r.note("the database crashes")
	check.OK(r.t, r.database.Kill())
	check.OK(r.t, r.database.Restart())
	r.note("the database is up again")
}

// failover lets the database die, and its synchronous standby take its place.
func (r *recorder) failover(*rand.Rand) {
	r.t.Helper()
	standby, err := r.database.Standby("")
	check.OK(r.t, err)
	r.note("the database dies")
	check.OK(r.t, r.database.Kill())
	check.OK(r.t, standby.Promote())
	for _, m := range r.members {
		m.database.Retarget(standby.Address())
	}
	r.note("the standby is the database")
	dead := r.database
	r.database = standby
	check.OK(r.t, dead.Close())
}
