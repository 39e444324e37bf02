package simulation

import (
	"context"
	"slices"
	"time"

	"purveyor/internal/commerce"
)

// crashes does to processes and the database what machines do now and then.
func (w *world) crashes() {
	for w.faulty {
		w.sleep(w.between(time.Minute, 15*time.Minute))
		if len(w.servers) == 0 { // the last one could not begin
			w.serve()
			continue
		}
		n, kind := w.lot(len(w.servers)), []string{outages, full, stops, clocks, upgrades, upgrades, kills, kills, kills}[w.lot(9)]
		if !w.troubled(kind) {
			continue
		}
		switch kind {
		case outages:
			w.goAway(w.between(100*time.Millisecond, 20*time.Second))
		case full:
			w.fill(w.between(time.Second, 2*time.Minute))
		case upgrades:
			w.upgrade(n)
		case stops:
			w.stop(n, w.between(time.Second, 50*time.Second))
		case clocks:
			v, wrong := w.servers[n], []func(*server){w.jump, w.drift}[w.lot(2)]
			w.env.Go(func() { wrong(v) })
		case kills:
			w.kill(n)
			w.sleep(w.between(0, 3*time.Second))
			w.serve()
		}
	}
}

// goAway takes the database away for a while.
func (w *world) goAway(d time.Duration) {
	w.report.Faults["the database went away"]++
	w.sim.Tracef("the database is away for %v", d)
	w.sayToAll("The database is away for %v.", d)
	w.awayTill = w.env.Now().Add(d)
}

// fill lets the disk of the database be full for a while: it can be read, and nothing is saved.
func (w *world) fill(d time.Duration) {
	w.report.Faults["the disk was full"]++
	w.sim.Tracef("the disk is full for %v", d)
	w.sayToAll("The disk of the database is full for %v.", d)
	w.fullTill = w.env.Now().Add(d)
}

// upgrade starts a process, and has another one stop in good order, as cmd/purveyor does.
func (w *world) upgrade(n int) {
	if w.parallel() {
		return
	}
	v := w.servers[n]
	w.report.Faults["a process was replaced in good order"]++
	w.sim.Tracef("%s is to stop", v.name)
	w.sayToAll("%s is to stop, and another process takes its place.", v.name)
	w.serve()
	w.retire(v)
}

// laterKinds are the kinds of jobs that the older of two builds does not know. No story waits for
// them.
var laterKinds = []commerce.JobKind{commerce.JobExpireSession, commerce.JobCheckDelivery, commerce.JobReleaseParked}

// startsOld reports whether the process that starts has the older build. While processes are
// upgraded some have, in any order: an upgrade may be taken back.
func (w *world) startsOld() bool {
	return w.faulty && !w.parallel() && w.troubled(upgrades) && w.lot(3) == 0
}

// build names the older of two builds.
func build(old bool) string {
	if old {
		return " with the older build"
	}
	return ""
}

// finishUpgrade leaves one process of the newer build, which does jobs of all kinds.
func (w *world) finishUpgrade() {
	newer := func(v *server) bool { return !v.old }
	if !slices.ContainsFunc(w.servers, newer) {
		w.serve()
	}
	keep := slices.IndexFunc(w.servers, newer)
	for i, v := range slices.Clone(w.servers) {
		if i != keep {
			w.retire(v)
		}
	}
}

// retire has a process stop in good order.
func (w *world) retire(v *server) {
	w.servers = slices.DeleteFunc(w.servers, func(other *server) bool { return other == v })
	stopped := make(chan struct{})
	v.process.Go(func() {
		v.retire()
		close(stopped)
	})
	if w.env.Wait(2*time.Minute, stopped) != 0 {
		w.broke("%s does not stop", v.name)
	}
	v.process.Kill()
	w.sim.Tracef("%s has stopped", v.name)
	w.sayToAll("%s has stopped.", v.name)
}

// retire ends the calls and jobs that are under way, gives the rest of the jobs back, and answers
// every command.
func (v *server) retire() {
	ctx, e := context.Background(), v.process.Env()
	_ = e.Sleep(ctx, 250*time.Millisecond)
	v.runner.EndWaits()
	e.Go(func() {
		_ = e.Sleep(ctx, 3*time.Second)
		v.committer.Hurry()
	})
	for until := e.Now().Add(7 * time.Second); v.calls > 0 && e.Now().Before(until); {
		_ = e.Sleep(ctx, 100*time.Millisecond)
	}
	giveBack, cancel := e.WithTimeout(ctx, time.Second)
	v.runner.Stop(giveBack)
	cancel()
	v.committer.Close()
}

// stop lets a process do nothing for a while. Its leases may end meanwhile.
func (w *world) stop(n int, d time.Duration) {
	w.report.Faults["a process was stopped for a while"]++
	w.sim.Tracef("%s is stopped for %v", w.servers[n].name, d)
	w.sayToAll("%s is stopped for %v.", w.servers[n].name, d)
	w.halted = w.env.Now().Add(d)
	w.servers[n].process.Stop(d)
}

// mostSkew is how far the clock of a process may be wrong.
const mostSkew = 25 * time.Second

// jump sets the clock of a process ahead or back, and right again after a few minutes.
func (w *world) jump(v *server) {
	ahead := w.between(-mostSkew, mostSkew)
	w.report.Faults["a clock jumped"]++
	w.sim.Tracef("the clock of %s jumps by %v", v.name, ahead)
	w.sayToAll("The clock of %s jumps by %v.", v.name, ahead)
	w.skew(v, func() {
		v.process.Skew(ahead)
		w.sleep(w.between(time.Minute, 5*time.Minute))
	})
}

// A clock that drifts gains or loses up to a fiftieth, and is then set right as slowly.
const (
	driftEvery = 5 * time.Second
	mostDrift  = driftEvery / 50
)

// drift lets the clock of a process run fast or slow for up to ten minutes.
func (w *world) drift(v *server) {
	gain, n := w.between(-mostDrift, mostDrift), 1+w.lot(120)
	w.report.Faults["a clock drifted"]++
	w.sim.Tracef("the clock of %s gains %v each %v", v.name, gain, driftEvery)
	w.sayToAll("The clock of %s gains %v each %v.", v.name, gain, driftEvery)
	w.skew(v, func() {
		for i := range 2 * n {
			w.sleep(driftEvery)
			v.process.Skew(gain * time.Duration(min(i, 2*n-i)))
		}
	})
}

// skew has the clock of a process be wrong until f ends.
func (w *world) skew(v *server, f func()) {
	w.skewed++
	w.jumped = w.env.Now()
	f()
	v.process.Skew(0)
	w.skewed--
	w.jumped = w.env.Now()
	w.sim.Tracef("the clock of %s is right again", v.name)
}
