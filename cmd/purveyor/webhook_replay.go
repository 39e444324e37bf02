package main

import (
	"context"
	"math"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// span is a range of time.
type span struct {
	Since string `help:"From this time on: RFC 3339, Unix ms, or an age, as 24h." placeholder:"TIME" group:"Time:"`
	Until string `help:"Before this time." placeholder:"TIME" group:"Time:"`
}

func (s span) check() error {
	_, err := s.filter("")
	return err
}

func (s span) filter(partnerID string) (f storage.EventFilter, err error) {
	f.PartnerID = partnerID
	if f.Since, err = parseMoment("--since", s.Since); err != nil {
		return f, err
	}
	f.Until, err = parseMoment("--until", s.Until)
	return f, err
}

// parseMoment parses a point in time; 0 for an empty text.
func parseMoment(flag, text string) (commerce.Millis, error) {
	if text == "" {
		return 0, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return commerce.MillisOf(at), nil
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return commerce.Millis(ms), nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return commerce.MillisOf(time.Now().Add(-ago)), nil
	}
	return 0, wrong("%s %q is no time; give it as 2006-01-02T15:04:05Z, as Unix ms, or as an age: 24h", flag, text)
}

type webhookResend struct {
	onDatabase
	Events []string `arg:"" help:"Ids of events."`
}

func (c webhookResend) Run(ctx context.Context, db *database) error {
	events, err := findEvents(ctx, db.Reader(), c.Events...)
	if err != nil {
		return err
	}
	of := map[string][]string{}
	for _, e := range events {
		of[e.PartnerID] = append(of[e.PartnerID], e.ID)
	}
	for partnerID, ids := range of {
		n, err := db.uses.ResendEvents(ctx, service.Caller{Actor: operator()}, service.ResendEvents{PartnerID: partnerID, EventIDs: ids})
		if err != nil {
			return partnerMissing(partnerID, err)
		}
		printf("%d sent again to %s\n", n, partnerID)
	}
	return nil
}

type webhookReplay struct {
	onEndpoint
	Undelivered bool `help:"Only events that were never delivered."`
	All         bool `help:"All events of the last 30 days."`
	span
}

func (c webhookReplay) prepare() error {
	switch ranged := c.Since != "" || c.Until != ""; {
	case c.Since == "" && !c.All:
		return wrong("say which events: --since TIME, with or without --until TIME; --all sends those of the last 30 days")
	case ranged && c.All:
		return wrong("--all and a range exclude each other")
	}
	return c.check()
}

func (c webhookReplay) Run(ctx context.Context, db *database) error {
	f, err := c.filter(c.Partner)
	if err != nil {
		return err
	}
	p := startProgress()
	defer p.end()
	in := service.ReplayEvents{PartnerID: c.Partner, Since: f.Since, Until: f.Until, Undelivered: c.Undelivered, Sent: func(n int) { p.set(int64(n)) }}
	p.phase("counting events", 0, "")
	total, err := db.uses.CountEvents(ctx, in, math.MaxInt-1)
	if err != nil {
		return err
	}
	p.phase("sending again", int64(total), "events")
	n, _, _, err := db.uses.ReplayEvents(ctx, service.Caller{Actor: operator()}, in)
	if p.end(); err != nil {
		return partnerMissing(c.Partner, err)
	}
	printf("%d sent again to %s\n", n, c.Partner)
	return nil
}
