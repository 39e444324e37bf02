package simulation

import (
	"context"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/mail"
)

// letter is what the mail server knows of an e-mail.
type letter struct {
	to   string
	came time.Time // for the first time
}

// mailServer takes e-mails.
type mailServer struct {
	w   *world
	env env.Env
	by  string // the process
}

// Send implements mail.Mailer.
func (m mailServer) Send(ctx context.Context, message mail.Message) error {
	_, err := call(ctx, m.w, m.env, m.by, "mail "+message.ID+" to "+message.To, func(context.Context) (int, error) {
		m.w.outside(func() {
			if _, known := m.w.letters[message.ID]; !known {
				m.w.letters[message.ID] = letter{message.To, m.w.env.Now()}
			}
		})
		return 0, nil
	})
	return err
}

// mailedBefore is how many e-mails of the first partner were counted on the first day, before the
// history begins: nearly all that it may send.
const mailedBefore = commerce.MailsOfPartner - 5

// mailed is the command that counts them.
type mailed struct{ partner string }

func (c mailed) key() commerce.MailKey { return commerce.MailsFor(c.partner) }

// Needs names the count.
func (c mailed) Needs() commerce.Needs { return commerce.Needs{Mails: []commerce.MailKey{c.key()}} }

// Decide sets it.
func (c mailed) Decide(_ *commerce.Rows, now commerce.Millis) (struct{}, commerce.Changes, error) {
	return struct{}{}, commerce.Changes{Mails: []commerce.MailCount{{MailKey: c.key(), Day: dayOf(now.Time()), Count: mailedBefore}}}, nil
}

func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// mails are the e-mails to customers that were taken, by address, and why others were kept, by
// order.
type mails struct {
	taken map[string][]letter
	kept  map[string]commerce.UnsentReason
	// counts are how many of a partner were surely counted on a day, and all are how many may have
	// been on any day.
	counts map[mailDay]int
	all    map[string]int
}

type mailDay struct {
	partner string
	day     int64
}

func (w *world) mails() mails {
	m := mails{map[string][]letter{}, map[string]commerce.UnsentReason{}, map[mailDay]int{}, map[string]int{}}
	for _, l := range w.letters {
		m.taken[l.to] = append(m.taken[l.to], l)
	}
	outbox, err := w.reader.Outbox(context.Background(), "", 10_000_000)
	if err != nil {
		w.broke("the outbox could not be read: %v", err)
	}
	for _, kept := range outbox {
		if s := w.stories[kept.OrderID]; s != nil && kept.To == s.email {
			m.kept[kept.OrderID] = kept.Reason
		}
	}
	first := w.partners[0].id
	m.counts[mailDay{first, dayOf(w.began)}], m.all[first] = mailedBefore, mailedBefore
	return m
}

// check: a customer is told once that an order can be picked up, unless the e-mail is kept: in test
// mode, or beyond the limit of its partner.
func (m mails) check(w *world, o commerce.Order) {
	taken, kept := m.taken[o.CustomerEmail], m.kept[o.ID]
	expected, reason := o.CustomerEmail != "" && o.ReadyForPickupAt != 0, commerce.UnsentTooManyOfPartner
	if o.Mode == commerce.Test {
		reason = commerce.UnsentTestMode
	}
	switch {
	case len(taken) > 1 || len(taken) == 1 && (!expected || kept != "" || o.Mode == commerce.Test):
		w.broke("the customer of order %s, which is %s, got %d e-mails, and one was kept (%s)", o.ID, o.Status, len(taken), kept)
	case kept != "" && kept != reason:
		w.broke("the e-mail about order %s was kept: %s", o.ID, kept)
	case !expected:
		return
	case len(taken) == 0 && kept == "" && o.Status != commerce.Cancelled && o.Status != commerce.Refunded:
		w.broke("the customer of order %s was never told that it is ready", o.ID)
	}
	if kept != "" || o.Mode == commerce.Test {
		return
	}
	m.all[o.PartnerID]++
	if len(taken) == 1 { // it was counted between these moments
		if from, to := dayOf(o.ReadyForPickupAt.Time().Add(-mostSkew)), dayOf(taken[0].came.Add(mostSkew)); from == to {
			m.counts[mailDay{o.PartnerID, from}]++
		}
	}
}

// checkLimit: no partner has more sent in a day than it may, and nothing is kept before that.
func (m mails) checkLimit(w *world, orders []commerce.Order) {
	for _, p := range w.partners {
		for day := dayOf(w.began); day <= dayOf(w.env.Now()); day++ {
			if n := m.counts[mailDay{p.id, day}]; n > commerce.MailsOfPartner {
				w.broke("%s had %d e-mails sent on one day", p.id, n)
			}
		}
	}
	for _, o := range orders {
		if m.kept[o.ID] == commerce.UnsentTooManyOfPartner && m.all[o.PartnerID] < commerce.MailsOfPartner {
			w.broke("the e-mail about order %s was kept as one too many of %s, which had %d sent", o.ID, o.PartnerID, m.all[o.PartnerID])
		}
	}
}
