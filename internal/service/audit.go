package service

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
)

// deed names the act of an actor and its object.
type deed struct {
	action  string // the use case: "rotate_key"
	storeID string // empty: it is about no single store
	object  string // the id of the changed partner, endpoint, job, product or order
}

// act runs a command that is audited for every actor: a change of partners, keys or
// endpoints, or any change by an operator. The batch of the command also writes an audit
// entry. A command that changes nothing writes none.
func act[R any](ctx context.Context, s *Service, by commerce.Actor, d deed, cmd commit.Command[R]) (R, error) {
	return commit.Do(ctx, s.committer, commit.Command[R](audited[R]{cmd, by, d}))
}

// answersForActs reports whether each act of an actor is audited, because the actor is a
// person. What a partner's program does stands in the histories of its orders.
func answersForActs(by commerce.Actor) bool {
	return by.Kind == commerce.ActorMember || by.Kind == commerce.ActorStaff || by.Kind == commerce.ActorOperator
}

// audited adds an audit entry to what a command changes.
type audited[R any] struct {
	commit.Command[R]
	by   commerce.Actor
	deed deed
}

// Inner is the command that is audited.
func (a audited[R]) Inner() any { return a.Command }

// explained is a command with a reason that its rows do not keep.
type explained interface{ Why() string }

func (a audited[R]) why() string {
	if c, ok := a.Command.(explained); ok {
		return c.Why()
	}
	return ""
}

// auditPeople has a command audited if its actor is a person. A repeat under an
// idempotency key changes nothing, and leaves no entry.
func auditPeople[R any](by commerce.Actor, d deed, cmd commit.Keyed[R]) commit.Keyed[R] {
	if !answersForActs(by) {
		return cmd
	}
	return audited[R]{cmd, by, d}
}

// Access implements commit.Keyed for the commands that auditPeople gets.
func (a audited[R]) Access(rows *commerce.Rows) error {
	return a.Command.(commit.Keyed[R]).Access(rows)
}

// Decide implements commit.Command.
func (a audited[R]) Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error) {
	result, changes, err := a.Command.Decide(rows, now)
	if err != nil {
		return result, changes, err
	}
	changes.Audit = append(changes.Audit, entriesOf(rows, &changes, a.by, a.deed, a.why(), now)...)
	return result, changes, nil
}

// entriesOf returns the audit entry about changes, or none if nothing changes. An empty reason is
// left out.
func entriesOf(rows *commerce.Rows, changes *commerce.Changes, by commerce.Actor, done deed, reason string, now commerce.Millis) []commerce.AuditEntry {
	d := schema.DifferenceOf(rows, changes)
	before, after := side(d.Before), side(d.After)
	if d.LeftOut > 0 {
		after["rows_left_out"] = d.LeftOut
	}
	var jobs, events []string
	for _, job := range changes.NewJobs {
		jobs = append(jobs, string(job.Kind)+" "+job.Subject)
	}
	for _, event := range changes.Webhooks {
		events = append(events, string(event.Kind))
	}
	addSome(after, "new_jobs", jobs)
	addSome(after, "new_events", events)
	addSome(before, "removed_members", changes.GoneMembers)
	addSome(before, "ended_sessions", shortened(changes.EndedSessions))
	if len(before) == 0 && len(after) == 0 {
		return nil
	}
	if reason != "" {
		after["reason"] = reason
	}
	return []commerce.AuditEntry{{StoreID: done.storeID, Actor: by.Name(), Action: done.action, Object: done.object,
		Before: encode(before), After: encode(after), Address: by.Address, TraceID: by.TraceID, CreatedOn: now}}
}

// side is one side of an audit entry.
func side(tables map[string]map[string]schema.Columns) map[string]any {
	m := map[string]any{}
	for name, rows := range tables {
		m[name] = rows
	}
	return m
}

// shortened are beginnings of digests, by which sessions are told apart.
func shortened(ids []string) (list []string) {
	for _, id := range ids {
		list = append(list, id[:min(8, len(id))])
	}
	return list
}

// addSome adds as many texts as an entry has rows of a table at most.
func addSome(m map[string]any, name string, list []string) {
	if len(list) > 0 {
		m[name] = list[:min(len(list), schema.MaxDifferences)]
	}
}

func encode(side map[string]any) []byte {
	data, err := json.Marshal(side, json.Deterministic(true))
	if err != nil {
		panic(err) // texts, numbers and stored JSON always encode
	}
	return data
}
