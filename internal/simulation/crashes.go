package simulation

import "time"

// crashes does to processes and the database what machines do now and then.
func (w *world) crashes() {
	for w.faulty {
		w.sleep(w.between(time.Minute, 15*time.Minute))
		if len(w.servers) == 0 { // the last one could not begin
			w.serve()
			continue
		}
		n, kind := w.lot(len(w.servers)), []string{outages, stops, clocks, kills, kills, kills}[w.lot(6)]
		if !w.troubled(kind) {
			continue
		}
		switch kind {
		case outages:
			w.goAway(w.between(100*time.Millisecond, 20*time.Second))
		case stops:
			w.stop(n, w.between(time.Second, 50*time.Second))
		case clocks:
			w.env.Go(func() { w.jump(n) })
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

// stop lets a process do nothing for a while. Its leases may end meanwhile.
func (w *world) stop(n int, d time.Duration) {
	w.report.Faults["a process was stopped for a while"]++
	w.sim.Tracef("%s is stopped for %v", w.servers[n].name, d)
	w.sayToAll("%s is stopped for %v.", w.servers[n].name, d)
	w.servers[n].process.Stop(d)
}

// jump sets the clock of a process ahead or back, and right again after a few minutes.
func (w *world) jump(n int) {
	name, p, ahead := w.servers[n].name, w.servers[n].process, w.between(-25*time.Second, 25*time.Second)
	w.report.Faults["a clock jumped"]++
	w.sim.Tracef("the clock of %s jumps by %v", name, ahead)
	w.sayToAll("The clock of %s jumps by %v.", name, ahead)
	w.skewed++
	w.jumped = w.env.Now()
	p.Skew(ahead)
	w.sleep(w.between(time.Minute, 5*time.Minute))
	p.Skew(0)
	w.skewed--
	w.jumped = w.env.Now()
	w.sim.Tracef("the clock of %s is right again", name)
}
