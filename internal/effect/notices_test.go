package effect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// want is a job of a notice as a command of payments will write it.
type want struct {
	order commerce.Order
	kind  commerce.JobKind
}

func (w want) Needs() commerce.Needs { return commerce.Needs{} }

func (w want) Decide(_ *commerce.Rows, now int64) (struct{}, commerce.Changes, error) {
	return struct{}{}, commerce.Changes{NewJobs: []commerce.Job{{Kind: w.kind, Owner: w.order.StoreID, Subject: w.order.ID, RunAt: now}}}, nil
}

func (s *shop) ready(o commerce.Order) {
	must(s.t, s.committer, command.MarkReady{Facts: command.FactsOf(o)})
}

func (s *shop) outbox() []commerce.OutboxMessage {
	s.t.Helper()
	list, err := s.engine.Reader().Outbox(context.Background(), "", 100)
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// notes are the codes of the notes on an order's timeline.
func (s *shop) notes(o commerce.Order) (messages []string) {
	s.t.Helper()
	events, err := s.engine.Reader().Timeline(context.Background(), o.Key(), 100)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == commerce.TimelineNote {
			messages = append(messages, string(e.Data)+" "+e.Message)
		}
	}
	return messages
}

func TestNoticesLeave(t *testing.T) {
	in(t, func(s *shop) {
		e := s.start(true)
		defer s.stop(e)
		o := s.sell("ann@e.example")
		s.ready(o)
		must(t, s.committer, commit.Command[struct{}](want{o, commerce.JobMailPaid}))
		must(t, s.committer, commit.Command[struct{}](want{o, commerce.JobTextPaid}))
		time.Sleep(5 * time.Second)
		if len(s.sentMails()) != 2 || len(s.sentTexts()) != 1 || len(s.outbox()) != 0 || len(s.notes(o)) != 0 {
			t.Fatalf("mails %+v, texts %+v, outbox %+v, notes %v", s.sentMails(), s.sentTexts(), s.outbox(), s.notes(o))
		}
		ready, paid, text := s.sentMails()[0], s.sentMails()[1], s.sentTexts()[0]
		if ready.To == "store@e.example" {
			ready, paid = paid, ready
		}
		if ready.To != "ann@e.example" || ready.Subject != "Your order A-1 is ready for pickup" || !strings.HasPrefix(ready.ID, "job_") ||
			!strings.Contains(ready.Text, "A-1") || !strings.Contains(ready.Text, "One") || !strings.Contains(ready.HTML, "<b>A-1</b>") {
			t.Errorf("to the customer: %+v", ready)
		}
		if paid.To != "store@e.example" || paid.Subject != "New order A-1, $25.00" || !strings.Contains(paid.Text, "2 pieces, $25.00, for pickup from One") {
			t.Errorf("to the store: %+v", paid)
		}
		if text.To != "+15125550100" || text.Text != "One: new paid order A-1, 2 pieces, $25.00." {
			t.Errorf("text: %+v", text)
		}
		if left := s.jobs(commerce.JobWaiting, storeID); len(left) != 0 {
			t.Errorf("jobs left: %+v", left)
		}
	})
}

// TestNoticesAreKept: test orders and what is not configured stay in the house.
func TestNoticesAreKept(t *testing.T) {
	for _, c := range []struct {
		mode       commerce.Mode
		configured bool
		reason     commerce.OutboxReason
	}{{commerce.Test, true, commerce.OutboxTestMode}, {commerce.Test, false, commerce.OutboxTestMode}, {commerce.Live, false, commerce.OutboxNotConfigured}} {
		in(t, func(s *shop) {
			s.actor.Mode = c.mode
			e := s.start(c.configured)
			defer s.stop(e)
			o := s.sell("ann@e.example")
			s.ready(o)
			must(t, s.committer, commit.Command[struct{}](want{o, commerce.JobTextPaid}))
			time.Sleep(5 * time.Second)
			kept := s.outbox()
			slices.SortFunc(kept, func(a, b commerce.OutboxMessage) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
			if len(kept) != 2 || kept[0].Kind != commerce.OutboxMail || kept[0].To != "ann@e.example" || kept[0].Subject == "" || kept[0].HTML == "" ||
				kept[0].Reason != c.reason || kept[0].OrderID != o.ID || kept[0].CreatedOn == 0 || kept[1].Kind != commerce.OutboxSMS || kept[1].Text == "" {
				t.Errorf("%s, configured %v: kept %+v", c.mode, c.configured, kept)
			}
			if len(s.sentMails())+len(s.sentTexts()) != 0 {
				t.Error("a notice left the house")
			}
		})
	}
}

// TestNoticesThatFail: a missing address and a server that refuses are notes
// for people; a server that is away is tried for hours.
func TestNoticesThatFail(t *testing.T) {
	cases := []struct {
		name, email string
		fails       error
		tries       int
		note        string
	}{
		{"no address", "", nil, 0, `{"code":"notice_not_sent"} E-mail to the customer was not sent: there is no address`},
		{"refused", "ann@e.example", &commerce.PermanentError{Err: errors.New("no such mailbox")}, 1,
			`{"code":"notice_failed"} E-mail to the customer could not be sent: no such mailbox`},
		{"away", "ann@e.example", errors.New("connection refused"), 1 + len(commerce.NoticeDelays),
			`{"code":"notice_failed"} E-mail to the customer could not be sent: connection refused`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(s *shop) {
				s.fails = c.fails
				o := s.sell(c.email)
				s.ready(o)
				for range 2 + len(commerce.NoticeDelays) {
					s.runDue(storeID)
				}
				if notes := s.notes(o); len(s.sentMails()) != c.tries || len(notes) != 1 || notes[0] != c.note {
					t.Errorf("%d tries, notes %q", len(s.sentMails()), notes)
				}
			})
		})
	}
}

// TestCancelledIsNotReady: nobody is sent for goods that are not there.
func TestCancelledIsNotReady(t *testing.T) {
	in(t, func(s *shop) {
		o := s.sell("ann@e.example")
		s.ready(o)
		must(t, s.committer, command.CancelOrder{Facts: command.FactsOf(o)})
		e := s.start(true)
		defer s.stop(e)
		time.Sleep(5 * time.Second)
		if left := s.jobs(commerce.JobWaiting, storeID); len(s.sentMails()) != 0 || len(left) != 0 {
			t.Errorf("mails %+v, jobs %+v", s.sentMails(), left)
		}
	})
}

// TestSubjectStaysOneLine: what a partner sent cannot end a header.
func TestSubjectStaysOneLine(t *testing.T) {
	o := commerce.Order{ExternalID: "A\r\nBcc: x@e.example", CustomerEmail: "ann@e.example"}
	if m := readyMail(o, commerce.Store{}); m.Subject != "Your order A  Bcc: x@e.example is ready for pickup" {
		t.Errorf("%q", m.Subject)
	}
}
