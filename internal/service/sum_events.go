package service

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// eventHour is an hour of webhook events about orders of one store.
type eventHour struct {
	storeID string
	mode    commerce.Mode
	hour    commerce.Millis
}

// eventSums are the sums of webhook events of a partner that are not stored yet.
type eventSums struct {
	partner commerce.Partner
	hours   map[eventHour]*commerce.HourSum
	waiting commerce.Millis // the first hour with an event that may still be delivered; 0: there is none
}

// followEvents makes the sums of a partner's webhook events: of the hours that are over since the
// last run, and of all from the first on that had an event which was not delivered then.
func (r *sumsRun) followEvents(ctx context.Context, partner commerce.Partner) error {
	name := commerce.SumEventFeed(partner.ID)
	p, err := r.reader.SumPosition(ctx, name)
	if ignoreMissing(err) != nil {
		return err
	}
	begin := p.At
	if begin == 0 || begin > r.until { // it is the first run, or a clock was ahead
		begin = max(0, commerce.HourOf(r.until.Add(-schema.EventKeep)))
	}
	sums := eventSums{partner: partner, hours: map[eventHour]*commerce.HourSum{}}
	from, to := commerce.NewID(commerce.PrefixEvent, begin, commerce.Entropy{}), commerce.NewID(commerce.PrefixEvent, r.until, commerce.Entropy{})
	for through := ""; from < to; from = through + "0" { // behind it, and before the next one
		begun := r.o.Env.Now()
		var facts []commerce.WebhookFacts
		if facts, through, err = r.reader.EventsToSum(ctx, partner.ID, from, to, r.page); err != nil {
			return err
		}
		if through == "" {
			break
		}
		for _, f := range facts {
			sums.add(f)
		}
		if len(sums.hours) >= sumsHours*r.page {
			if err := r.keepEvents(ctx, sums, commerce.HourOf(commerce.TimeOfEvent(through))); err != nil {
				return err
			}
		}
		if err := r.rest(ctx, begun); err != nil {
			return err
		}
	}
	if err := r.keepEvents(ctx, sums, r.until); err != nil {
		return err
	}
	next := commerce.HourOf(r.until.Add(-sumsOverlap)) // an event of an open batch may have been passed over
	if sums.waiting != 0 {
		next = max(sums.waiting, r.until.Add(-commerce.SumWaits))
	}
	if next != p.At {
		r.reached[name] = next
	}
	return nil
}

// add counts an event. That it waits is only true of partners that are to get it.
func (s *eventSums) add(f commerce.WebhookFacts) {
	at := commerce.HourOf(commerce.TimeOfEvent(f.ID))
	key := eventHour{f.StoreID, f.Mode, at}
	sum := s.hours[key]
	if sum == nil {
		sum = &commerce.HourSum{Hour: int64((at - commerce.DayOf(at)) / anHour)}
		s.hours[key] = sum
	}
	sum.AddWebhook(f)
	if !f.Delivered && (f.Tried || s.partner.CallbackURL != "") && (s.waiting == 0 || at < s.waiting) {
		s.waiting = at
	}
}

// keepEvents stores the sums of the hours before a time, store by store.
func (r *sumsRun) keepEvents(ctx context.Context, sums eventSums, before commerce.Millis) error {
	var keys []eventHour
	for key := range sums.hours {
		if key.hour < before {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b eventHour) int {
		return cmp.Or(cmp.Compare(a.storeID, b.storeID), cmp.Compare(a.hour, b.hour), cmp.Compare(a.mode, b.mode))
	})
	for len(keys) > 0 {
		cmd, n := command.KeepSums{Worker: r.worker}, 0
		for ; n < min(len(keys), sumsKept) && keys[n].storeID == keys[0].storeID; n++ {
			cmd.Hours = append(cmd.Hours, command.KeptHour{Hour: *sums.hours[keys[n]], Day: commerce.DaySumsKey{StoreID: keys[n].storeID,
				Day: commerce.DayOf(keys[n].hour), Mode: keys[n].mode, PartnerID: sums.partner.ID, Source: commerce.SumWebhooks}})
			delete(sums.hours, keys[n])
		}
		if err := r.keep(ctx, cmd); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}
