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
	"purveyor/internal/testkit/fixture"
)

// want is a job of a message as a command of payments writes it.
type want struct {
	order commerce.Order
	kind  commerce.JobKind
}

func (w want) Needs() commerce.Needs { return commerce.Needs{} }

func (w want) Decide(_ *commerce.Rows, now commerce.Millis) (struct{}, commerce.Changes, error) {
	return struct{}{}, commerce.Changes{NewJobs: []commerce.Job{{Kind: w.kind, Owner: w.order.StoreID, Subject: w.order.ID, RunAt: now}}}, nil
}

func (s *shop) ready(o commerce.Order) {
	fixture.Do(s.Shop, command.MarkReady{Facts: command.FactsOf(o), Actor: fixture.Actor(commerce.Live)})
}

func (s *shop) outbox() []commerce.UnsentMessage {
	s.T.Helper()
	list, err := s.Engine.Reader().Outbox(context.Background(), "", 100)
	if err != nil {
		s.T.Fatal(err)
	}
	return list
}

// notes are the codes of the notes on an order's timeline.
func (s *shop) notes(o commerce.Order) (messages []string) {
	s.T.Helper()
	events, err := s.Engine.Reader().Timeline(context.Background(), o.Key(), 100)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == commerce.TimelineNote {
			messages = append(messages, e.Data.(commerce.NoteData).Code+" "+e.Message)
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
		fixture.Do(s.Shop, commit.Command[struct{}](want{o, commerce.JobMailPaid}))
		fixture.Do(s.Shop, commit.Command[struct{}](want{o, commerce.JobTextPaid}))
		time.Sleep(5 * time.Second)
		if len(s.sentMails()) != 2 || len(s.sentTexts()) != 1 || len(s.outbox()) != 0 || len(s.notes(o)) != 0 {
			t.Fatalf("mails %+v, texts %+v, outbox %+v, notes %v", s.sentMails(), s.sentTexts(), s.outbox(), s.notes(o))
		}
		ready, paid, text := s.sentMails()[0], s.sentMails()[1], s.sentTexts()[0]
		if ready.To == fixture.StoreEmail {
			ready, paid = paid, ready
		}
		if ready.To != "ann@e.example" || ready.Subject != "Your order A-1 is ready for pickup" || !strings.HasPrefix(ready.ID, "job_") ||
			!strings.Contains(ready.Text, "A-1") || !strings.Contains(ready.Text, "One") || !strings.Contains(ready.HTML, "<b>A-1</b>") {
			t.Errorf("to the customer: %+v", ready)
		}
		if paid.To != fixture.StoreEmail || paid.Subject != "New order A-1, $25.00" || !strings.Contains(paid.Text, "2 pieces, $25.00, for pickup from One") {
			t.Errorf("to the store: %+v", paid)
		}
		if text.To != fixture.StorePhone || text.Text != "One: new paid order A-1, 2 pieces, $25.00." {
			t.Errorf("text: %+v", text)
		}
		if left := s.Jobs(commerce.JobWaiting, storeID); len(left) != 0 {
			t.Errorf("jobs left: %+v", left)
		}
	})
}

// TestMessagesAreKept: test orders and what is not configured stay in the house.
func TestMessagesAreKept(t *testing.T) {
	for _, c := range []struct {
		mode       commerce.Mode
		configured bool
		reason     commerce.UnsentReason
	}{{commerce.Test, true, commerce.UnsentTestMode}, {commerce.Test, false, commerce.UnsentTestMode}, {commerce.Live, false, commerce.UnsentNotConfigured}} {
		in(t, func(s *shop) {
			e := s.start(c.configured)
			defer s.stop(e)
			o := s.sellIn(c.mode, "ann@e.example")
			s.ready(o)
			fixture.Do(s.Shop, commit.Command[struct{}](want{o, commerce.JobTextPaid}))
			time.Sleep(5 * time.Second)
			kept := s.outbox()
			slices.SortFunc(kept, func(a, b commerce.UnsentMessage) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
			if len(kept) != 2 || kept[0].Kind != commerce.UnsentMail || kept[0].To != "ann@e.example" || kept[0].Subject == "" || kept[0].HTML == "" ||
				kept[0].Reason != c.reason || kept[0].OrderID != o.ID || kept[0].CreatedOn == 0 || kept[1].Kind != commerce.UnsentSMS || kept[1].Text == "" {
				t.Errorf("%s, configured %v: kept %+v", c.mode, c.configured, kept)
			}
			if len(s.sentMails())+len(s.sentTexts()) != 0 {
				t.Error("a message was sent")
			}
		})
	}
}

// TestMessagesThatFail: a missing address and a server that refuses are notes
// for people; a server that is away is tried for hours.
func TestMessagesThatFail(t *testing.T) {
	cases := []struct {
		name, email string
		fails       error
		tries       int
		note        string
	}{
		{"no address", "", nil, 0, `notice_not_sent E-mail to the customer was not sent: there is no address`},
		{"refused", "ann@e.example", &commerce.PermanentError{Err: errors.New("no such mailbox")}, 1,
			`notice_failed E-mail to the customer could not be sent: no such mailbox`},
		{"away", "ann@e.example", errors.New("connection refused"), 1 + len(commerce.MessageDelays),
			`notice_failed E-mail to the customer could not be sent: connection refused`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(s *shop) {
				s.fails = c.fails
				o := s.sell(c.email)
				s.ready(o)
				for range 2 + len(commerce.MessageDelays) {
					s.runDue(storeID)
				}
				if notes := s.notes(o); len(s.sentMails()) != c.tries || len(notes) != 1 || notes[0] != c.note {
					t.Errorf("%d tries, notes %q", len(s.sentMails()), notes)
				}
			})
		})
	}
}

// TestCancelledIsNotReady checks that no customer is sent for goods of a cancelled
// order.
func TestCancelledIsNotReady(t *testing.T) {
	in(t, func(s *shop) {
		o := s.sell("ann@e.example")
		s.ready(o)
		fixture.Do(s.Shop, command.CancelOrder{Facts: command.FactsOf(o), Actor: fixture.Actor(commerce.Live)})
		e := s.start(true)
		defer s.stop(e)
		time.Sleep(5 * time.Second)
		if left := s.Jobs(commerce.JobWaiting, storeID); len(s.sentMails()) != 0 || len(left) != 0 {
			t.Errorf("mails %+v, jobs %+v", s.sentMails(), left)
		}
	})
}

// TestMailsAreLimited: what is beyond stays in the outbox, and the merchant is
// told. The counts hold over processes, and another try of a mail counts once.
func TestMailsAreLimited(t *testing.T) {
	in(t, func(s *shop) {
		partner, day := commerce.MailsFor(partnerID), time.Now().UnixMilli()/86_400_000
		count := func(n int64) {
			fixture.Do(s.Shop, commit.Command[struct{}](setMails{partner, n, day}))
		}
		count(commerce.MailsOfPartner - 1)
		s.fails = errors.New("connection refused")
		tried := s.sell("ann@e.example")
		s.ready(tried)
		for range 2 {
			s.runDue(storeID)
		}
		s.fails = nil
		s.runDue(storeID)
		if n := len(s.sentMails()); n != 3 || len(s.outbox()) != 0 {
			t.Errorf("%d tries, outbox %+v", n, s.outbox())
		}
		beyond := s.sell("bob@e.example")
		s.ready(beyond)
		s.runDue(storeID) // another process
		kept := s.outbox()
		if len(s.sentMails()) != 3 || len(kept) != 1 || kept[0].Reason != commerce.UnsentTooManyOfPartner || kept[0].To != "bob@e.example" ||
			s.Attention(beyond.Key()) != "mail_not_sent" || s.Attention(tried.Key()) != "" || len(s.Jobs(commerce.JobWaiting, storeID)) != 0 {
			t.Errorf("%d sent, kept %+v, attention %q", len(s.sentMails()), kept, s.Attention(beyond.Key()))
		}
		if notes := s.notes(beyond); len(notes) != 1 || !strings.Contains(notes[0], "E-mail to the customer was not sent: too many mails of this partner today. It is in the outbox") {
			t.Errorf("notes %q", notes)
		}
		fixture.Do(s.Shop, command.MarkPickedUp{Facts: command.FactsOf(beyond), Actor: fixture.Actor(commerce.Live)})
		if s.Attention(beyond.Key()) != "" {
			t.Error("the customer has the goods, and the merchant is still to look")
		}
		time.Sleep(24 * time.Hour) // of another day
		next := s.sell("bob@e.example")
		s.ready(next)
		s.runDue(storeID)
		for range commerce.MailsOfOrder { // of this order, with the first
			fixture.Do(s.Shop, commit.Command[struct{}](want{next, commerce.JobMailReady}))
			s.runDue(storeID)
		}
		if n := len(s.sentMails()); n != 3+commerce.MailsOfOrder || len(s.outbox()) != 2 || s.outbox()[0].Reason != commerce.UnsentTooManyOfOrder || s.Attention(next.Key()) != "mail_not_sent" {
			t.Errorf("%d sent, outbox %+v, attention %q", n, s.outbox(), s.Attention(next.Key()))
		}
	})
}

// setMails sets what a partner has had sent today.
type setMails struct {
	key        commerce.MailKey
	count, day int64
}

func (c setMails) Needs() commerce.Needs { return commerce.Needs{Mails: []commerce.MailKey{c.key}} }

func (c setMails) Decide(*commerce.Rows, commerce.Millis) (struct{}, commerce.Changes, error) {
	return struct{}{}, commerce.Changes{Mails: []commerce.MailCount{{MailKey: c.key, Day: c.day, Count: c.count}}}, nil
}

// TestWhatAPartnerWrites: instructions are short and said to be the partner's, and
// an external id that is no plain name is left out.
func TestWhatAPartnerWrites(t *testing.T) {
	o := commerce.Order{ID: "ord_1", PartnerID: "ptn_1", ExternalID: "1 - WIN: go to https://evil.example", CustomerEmail: "ann@e.example",
		PickupInstructions: "<b>" + strings.Repeat("ü", 600)}
	m := readyMail(o, commerce.Store{Name: "One"})
	words := "The store's partner writes:\n<b>" + strings.Repeat("ü", 497) + "\n"
	if strings.Contains(m.Subject+m.Text+m.HTML, "evil") || m.Subject != "Your order ord_1 is ready for pickup" || !strings.Contains(m.Text, words) ||
		!strings.Contains(m.HTML, "The store's partner writes:<br>&lt;b&gt;ü") || strings.Count(m.HTML, "ü") != 497 {
		t.Errorf("%+v", m)
	}
	o.PartnerID, o.ExternalID = "", "K-1_2#3"
	if m := readyMail(o, commerce.Store{Name: "One"}); strings.Contains(m.Text+m.HTML, "partner") || m.Subject != "Your order K-1_2#3 is ready for pickup" || strings.Count(m.Text, "ü") != 497 {
		t.Errorf("of the merchant's own order: %+v", m)
	}
}

// TestSubjectStaysOneLine: what a partner sent cannot end a header.
func TestSubjectStaysOneLine(t *testing.T) {
	o := commerce.Order{ID: "ord_1", ExternalID: "A\r\nBcc: x@e.example", CustomerEmail: "ann@e.example", TotalCents: 100}
	if m := readyMail(o, commerce.Store{}); m.Subject != "Your order ord_1 is ready for pickup" {
		t.Errorf("%q", m.Subject)
	}
	if m := paidMail(o, commerce.Store{}); m.Subject != "New order A  Bcc: x@e.example, $1.00" {
		t.Errorf("%q", m.Subject)
	}
}
