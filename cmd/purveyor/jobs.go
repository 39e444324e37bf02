package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type jobsCommand struct {
	List   jobsList   `cmd:"" help:"List waiting and failed jobs. Finished jobs are deleted."`
	Show   jobsShow   `cmd:"" help:"Show a job."`
	Retry  jobsRetry  `cmd:"" help:"Try a waiting, held or dead job at once."`
	GiveUp jobsGiveUp `cmd:"" help:"Give up a dead or held job: its pending answer is closed, its reserved money is released, and its order shows it."`

	Hold    jobsHold    `cmd:"" help:"Hold the waiting jobs that act outside (payments, couriers, mails, texts) in a database that was restored to an earlier state, before its service starts."`
	Release jobsRelease `cmd:"" help:"Let held jobs go on."`
}

type jobsList struct {
	onDatabase
	asJSON
	State string `help:"Only jobs in this state: waiting, leased, parked, held, dead or given_up. Default: all but given_up." enum:",waiting,leased,parked,held,dead,given_up" default:""`
	Kind  string `help:"Only jobs of this kind." placeholder:"KIND"`
	Owner string `help:"Only jobs of this store or partner." placeholder:"ID"`
	Limit int    `help:"How many of each state." default:"50"`
}

func (c jobsList) Run(ctx context.Context, db *database) error {
	now := commerce.MillisOf(time.Now())
	var jobs []commerce.Job
	for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobHeld, commerce.JobDead, commerce.JobGivenUp} {
		if !c.asksFor(state) {
			continue
		}
		list, err := c.inState(ctx, db.Reader(), state, now)
		if err != nil {
			return err
		}
		jobs = append(jobs, list...)
	}
	switch {
	case c.JSON:
		return printJSON(listOf(jobs, listedJobOf(now)))
	case len(jobs) == 0:
		printf("no jobs\n")
		return nil
	}
	table := newTable("JOB", "STATE", "KIND", "MODE", "OWNER", "PARTNER", "TRIES", "NEXT", "ERROR")
	for _, j := range jobs {
		table.row(j.ID, jobState(j, now), j.Kind, j.Mode, j.Owner, orNone(j.PartnerID), j.Tries, nextTry(j, now), orNone(j.Error))
	}
	return table.flush()
}

func (c jobsList) asksFor(state commerce.JobState) bool {
	switch c.State {
	case "":
		return state != commerce.JobGivenUp
	case leasedState:
		return state == commerce.JobWaiting
	}
	return c.State == string(state)
}

// leasedState is the printed state of a job whose attempt is under way.
const leasedState = "leased"

func jobState(j commerce.Job, now commerce.Millis) string {
	if j.Leased(now) {
		return leasedState
	}
	return string(j.State)
}

func nextTry(j commerce.Job, now commerce.Millis) string {
	switch {
	case j.Over():
		return "none"
	case j.Leased(now):
		return "under way"
	case j.State == commerce.JobParked:
		return "when its endpoint answers"
	case j.State == commerce.JobHeld:
		return "when it is released"
	case j.RunAt <= now:
		return "now"
	}
	return moment(j.RunAt)
}

// inState reads the selected jobs of a state, in the order in which they are due.
func (c jobsList) inState(ctx context.Context, r storage.Reader, state commerce.JobState, now commerce.Millis) (list []commerce.Job, err error) {
	owners := []string{c.Owner}
	if state == commerce.JobParked && c.Owner == "" { // parked jobs are found by their partner
		partners, err := r.Partners(ctx)
		if err != nil {
			return nil, err
		}
		owners = idsOf(partners)
	}
	for _, owner := range owners {
		selected := 0
		for j, err := range jobsOf(ctx, r, state, owner) {
			if err != nil {
				return nil, err
			}
			if (c.Kind == "" || c.Kind == string(j.Kind)) && (c.State == "" || c.State == jobState(j, now)) {
				list = append(list, j)
				selected++
			}
			if selected >= max(c.Limit, 1) {
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b commerce.Job) int { return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), max(c.Limit, 1))], nil
}

// jobsOf reads the jobs of an owner in a state, in the order in which they are due.
func jobsOf(ctx context.Context, r storage.Reader, state commerce.JobState, owner string) iter.Seq2[commerce.Job, error] {
	read := func(after storage.JobPosition) ([]commerce.Job, error) {
		return r.Jobs(ctx, storage.JobFilter{State: state, Owner: owner, After: after, Limit: pageSize})
	}
	return rowsOf(storage.JobPosition{}, read, func(j commerce.Job) storage.JobPosition {
		return storage.JobPosition{RunAt: j.RunAt, JobKey: j.Key()}
	})
}

// onJob is the part of a command that is about one job.
type onJob struct {
	onDatabase
	Job string `arg:"" help:"The job's id."`
}

type jobsShow struct{ onJob }

func (c jobsShow) Run(ctx context.Context, db *database) error {
	j, err := findJob(ctx, db.Reader(), c.Job)
	if err == nil {
		printJob(j)
	}
	return err
}

func printJob(j commerce.Job) {
	now := commerce.MillisOf(time.Now())
	printf("job      %s\nstate    %s\nkind     %s\nmode     %s\nowner    %s\npartner  %s\nabout    %s\ntries    %d\nnext     %s\nerror    %s\n",
		j.ID, jobState(j, now), j.Kind, j.Mode, j.Owner, orNone(j.PartnerID), j.Subject, j.Tries, nextTry(j, now), orNone(j.Error))
	if j.Leased(now) {
		printf("leased   by %s until %s\n", j.LeasedBy, moment(j.LeasedUntil))
	}
}

// findJob looks for a job in each slot, because its id does not contain the slot.
func findJob(ctx context.Context, r storage.Reader, id string) (commerce.Job, error) {
	for slot := range int64(commerce.JobSlots) {
		j, err := r.Job(ctx, commerce.JobKey{Slot: slot, ID: id})
		if err == nil || !errors.Is(err, storage.ErrNotFound) {
			return j, err
		}
	}
	return commerce.Job{}, fmt.Errorf("there is no job %s, or it is finished; `purveyor jobs list` shows the others", id)
}

type jobsRetry struct{ onJob }

func (c jobsRetry) Run(ctx context.Context, db *database) error {
	return changeJob(ctx, db, c.Job, func(ctx context.Context, uses *service.Service, j commerce.Job) (commerce.Job, error) {
		return uses.RetryJob(ctx, operator(), j)
	})
}

type jobsGiveUp struct {
	onJob
	Reason string `help:"The reason. The job and the order's timeline show it, which its partner can read." required:"" placeholder:"TEXT"`
}

func (c jobsGiveUp) prepare() error {
	if strings.TrimSpace(c.Reason) == "" {
		return wrong("--reason: say why; the job and the order's timeline show it")
	}
	return nil
}

func (c jobsGiveUp) Run(ctx context.Context, db *database) error {
	return changeJob(ctx, db, c.Job, func(ctx context.Context, uses *service.Service, j commerce.Job) (commerce.Job, error) {
		if j.State != commerce.JobDead && j.State != commerce.JobHeld {
			return j, fmt.Errorf("it is %s; only a dead or held job can be given up", jobState(j, commerce.MillisOf(time.Now())))
		}
		return uses.GiveUpJob(ctx, operator(), j, c.Reason)
	})
}

// changeJob changes a job and prints it.
func changeJob(ctx context.Context, db *database, id string, change func(context.Context, *service.Service, commerce.Job) (commerce.Job, error)) error {
	j, err := findJob(ctx, db.Reader(), id)
	if err != nil {
		return err
	}
	if j, err = change(ctx, db.uses, j); err != nil {
		return fmt.Errorf("job %s: %w", id, err)
	}
	printJob(j)
	return nil
}

type jobsHold struct{ onDatabase }

func (c jobsHold) Run(ctx context.Context, db *database) error {
	n, err := db.uses.HoldJobs(ctx, operator())
	printf("%d jobs were held\n", n)
	return err
}

type jobsRelease struct {
	onDatabase
	Kind string `help:"Only jobs of this kind." placeholder:"KIND"`
}

func (c jobsRelease) prepare() error {
	if kind := commerce.JobKind(c.Kind); kind != "" && !kind.ActsOutside() {
		return wrong("--kind: jobs of the kind %s are never held", kind)
	}
	return nil
}

func (c jobsRelease) Run(ctx context.Context, db *database) error {
	n, err := db.uses.ReleaseJobs(ctx, operator(), commerce.JobKind(c.Kind))
	printf("%d jobs were released\n", n)
	return err
}
