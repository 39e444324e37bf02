package jobs

import "purveyor/internal/commerce"

// Pool names the kinds of jobs that are bounded together. Each pool exists once
// for each mode, so that test orders take no room from live orders.
type Pool string

// poolTries is how many tries a pool has under way, unless Options.Pools says
// otherwise.
const poolTries = 256

// leasedPerTry is how many jobs are leased to this process for each try that their
// pool may have under way.
const leasedPerTry = 64

type poolKey struct {
	name Pool
	mode commerce.Mode
}

// pool bounds what this process does at a time for the lanes that share it.
type pool struct {
	most    int     // tries under way
	running int     // of them
	leased  int     // jobs that are leased to this process, or reserved
	ready   []*lane // lanes that may begin a try, each once, in turn
	short   bool    // storage may have jobs that had no room here
}

// full reports whether a claim may give more jobs than the pool has room for.
func (p *pool) full() bool { return p.leased > p.mostLeased()-claimSize }

func (p *pool) mostLeased() int { return max(leasedPerTry*p.most, 2*claimSize) }

// poolOf is called with the lock held.
func (r *Runner) poolOf(class commerce.JobClass) *pool {
	key := poolKey{r.Kinds[class.Kind].Pool, class.Mode}
	p := r.pools[key]
	if p == nil {
		most := r.Pools[key.name]
		if most == 0 {
			most = poolTries
		}
		p = &pool{most: most}
		r.pools[key] = p
	}
	return p
}
