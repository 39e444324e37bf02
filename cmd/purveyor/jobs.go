package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type jobsCommand struct {
	List   jobsList   `cmd:"" help:"List waiting and failed jobs. Finished jobs are deleted."`
	Show   jobsShow   `cmd:"" help:"Show a job."`
	Retry  jobsRetry  `cmd:"" help:"Try a waiting or dead job at once."`
	GiveUp jobsGiveUp `cmd:"" help:"Give up a dead job: its pending answer is closed, its reserved money is released, and its order shows it."`
}

type jobsList struct {
	config.Database
	State string `help:"Only jobs in this state: waiting, leased, parked, dead or given_up. Default: all but given_up." enum:",waiting,leased,parked,dead,given_up" default:""`
	Kind  string `help:"Only jobs of this kind." placeholder:"KIND"`
	Owner string `help:"Only jobs of this store or partner." placeholder:"ID"`
	Limit int    `help:"How many of each state." default:"50"`
}

func (c jobsList) Run() error {
	return withDatabase(c.Database, func(ctx context.Context, db *database) error {
		now := commerce.MillisOf(time.Now())
		table := newTable("JOB", "STATE", "KIND", "MODE", "OWNER", "PARTNER", "TRIES", "NEXT", "ERROR")
		shown := 0
		for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobDead, commerce.JobGivenUp} {
			if !c.asksFor(state) {
				continue
			}
			list, err := c.inState(ctx, db.Reader(), state, now)
			if err != nil {
				return err
			}
			for _, j := range list {
				table.row(j.ID, jobState(j, now), j.Kind, j.Mode, j.Owner, orNone(j.PartnerID), j.Tries, nextTry(j, now), orNone(j.Error))
			}
			shown += len(list)
		}
		if shown == 0 {
			printf("no jobs\n")
			return nil
		}
		return table.flush()
	})
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
		of, err := c.ofOwner(ctx, r, storage.JobFilter{State: state, Owner: owner, Limit: 500}, now)
		if err != nil {
			return nil, err
		}
		list = append(list, of...)
	}
	slices.SortFunc(list, func(a, b commerce.Job) int { return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), max(c.Limit, 1))], nil
}

func (c jobsList) ofOwner(ctx context.Context, r storage.Reader, f storage.JobFilter, now commerce.Millis) (list []commerce.Job, err error) {
	for len(list) < max(c.Limit, 1) {
		page, err := r.Jobs(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, j := range page {
			if (c.Kind == "" || c.Kind == string(j.Kind)) && (c.State == "" || c.State == jobState(j, now)) {
				list = append(list, j)
			}
		}
		if len(page) < f.Limit {
			break
		}
		last := page[len(page)-1]
		f.After = storage.JobPosition{RunAt: last.RunAt, JobKey: last.Key()}
	}
	return list, nil
}

type jobsShow struct {
	config.Database
	Job string `arg:"" help:"The job's id."`
}

func (c jobsShow) Run() error {
	return withDatabase(c.Database, func(ctx context.Context, db *database) error {
		j, err := findJob(ctx, db.Reader(), c.Job)
		if err == nil {
			printJob(j)
		}
		return err
	})
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

type jobsRetry struct {
	config.Database
	Job string `arg:"" help:"The job's id."`
}

func (c jobsRetry) Run() error {
	return changeJob(c.Database, c.Job, func(ctx context.Context, uses *service.Service, j commerce.Job) (commerce.Job, error) {
		return uses.RetryJob(ctx, operator(), j)
	})
}

type jobsGiveUp struct {
	config.Database
	Job    string `arg:"" help:"The job's id."`
	Reason string `help:"The reason. The job and the order's timeline show it, which its partner can read." required:"" placeholder:"TEXT"`
}

func (c jobsGiveUp) Run() error {
	if strings.TrimSpace(c.Reason) == "" {
		return errors.New("--reason: say why; the job and the order's timeline show it")
	}
	return changeJob(c.Database, c.Job, func(ctx context.Context, uses *service.Service, j commerce.Job) (commerce.Job, error) {
		if j.State != commerce.JobDead {
			return j, fmt.Errorf("it is %s; only a dead job can be given up", jobState(j, commerce.MillisOf(time.Now())))
		}
		return uses.GiveUpJob(ctx, operator(), j, c.Reason)
	})
}

// changeJob changes a job and prints it.
func changeJob(c config.Database, id string, change func(context.Context, *service.Service, commerce.Job) (commerce.Job, error)) error {
	return withDatabase(c, func(ctx context.Context, db *database) error {
		j, err := findJob(ctx, db.Reader(), id)
		if err != nil {
			return err
		}
		if j, err = change(ctx, db.uses, j); err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
		printJob(j)
		return nil
	})
}
