package service

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

const (
	// sumsSettle is how long after an hour its sums are made, so that the orders of its last
	// seconds are stored.
	sumsSettle = time.Minute
	// sumsOverlap is how far a run goes back beyond the time of the last one. Batches that
	// were open then may have saved orders with earlier times, by a clock that is behind.
	sumsOverlap = 5 * time.Minute

	sumsPage  = 1000 // orders of a read, where Options do not say otherwise
	sumsHours = 20   // hours of stores that are kept in mind before they are summed, for each order of a page
	sumsKept  = 168  // hours of a store that one command stores
	// sumsGap is how many hours between two others are summed again, because one read of a
	// longer time costs less than two.
	sumsGap = 3
)

const anHour = commerce.Millis(time.Hour / time.Millisecond)

// sumsRenewed is how long a run may go on without being kept. Another process may take it much
// later.
const sumsRenewed = 20 * time.Second

// sumsRest is how long a run pauses after a read, at most: it is never in a hurry.
const sumsRest = 50 * time.Millisecond

// MakeSums makes the sums of all hours that are over, and makes those again whose orders have
// changed. It does nothing while another process does so, or if there is no new hour.
//
// It follows the orders of each partner and mode by the time of their last change. If it ends
// early, the next call goes on where the last step ended.
func (s *Service) MakeSums(ctx context.Context) error {
	until := commerce.HourOf(s.millis().Add(-sumsSettle))
	p, err := s.reader.SumPosition(ctx, commerce.SumRun)
	if err != nil && !errors.Is(err, storage.ErrNotFound) || p.Made(until) {
		return ignoreMissing(err)
	}
	r := &sumsRun{Service: s, worker: s.o.Env.Text(), page: cmp.Or(s.o.SumsPage, sumsPage), touched: map[storeHour]bool{}, reached: map[string]commerce.Millis{}}
	begun, err := commit.Do(ctx, s.committer, command.MakeSums{Worker: r.worker, Until: until})
	if err != nil || !begun.Taken {
		return err
	}
	partners, err := s.reader.Partners(ctx)
	if err != nil {
		return err
	}
	r.now, r.until, r.renewed = begun.Now, until, s.o.Env.Now()
	for _, partner := range append([]commerce.Partner{{}}, partners...) {
		for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
			if err := r.follow(ctx, partner.ID, mode); err != nil {
				return err
			}
		}
	}
	for _, partner := range partners {
		if err := r.followEvents(ctx, partner); err != nil {
			return err
		}
	}
	return r.sum(ctx, until)
}

func ignoreMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// storeHour is an hour of the store with a number.
type storeHour struct {
	storeNo int64
	hour    commerce.Millis
}

// sumsRun is one call of MakeSums.
type sumsRun struct {
	*Service
	worker  string
	page    int // orders of a read
	now     commerce.Millis
	until   commerce.Millis            // every hour before it is over
	renewed time.Time                  // when the run was last kept
	touched map[storeHour]bool         // to be summed
	reached map[string]commerce.Millis // how far each feed was read
}

// errSumsLost ends a run that was so slow that another process took it over.
var errSumsLost = errors.New("another process makes the sums by now")

// follow reads which orders of a partner and mode have changed since the last run.
func (r *sumsRun) follow(ctx context.Context, partnerID string, mode commerce.Mode) error {
	name, limit := commerce.SumFeed(partnerID, mode), r.page
	p, err := r.reader.SumPosition(ctx, name)
	if ignoreMissing(err) != nil {
		return err
	}
	if p.At > r.now { // a clock was ahead; by it other changes may have been passed over
		p.At = 0
	}
	for from := p.At; ; {
		begun := r.o.Env.Now()
		page, err := r.reader.ChangedOrders(ctx, partnerID, mode, from, limit)
		if err == nil {
			err = r.rest(ctx, begun)
		}
		if err != nil || len(page) == 0 {
			return err
		}
		for _, change := range page {
			if no, ok := commerce.StoreNoOfOrder(change.ID); ok {
				r.touched[storeHour{no, commerce.HourOf(commerce.TimeOfOrder(change.ID))}] = true
			}
		}
		if len(page) < limit {
			r.reached[name] = max(p.At, r.now.Add(-sumsOverlap))
			return nil
		}
		if last := page[len(page)-1].At; last > from {
			from, limit = last, r.page
		} else { // all of them have changed at once
			limit *= 2
		}
		if r.reached[name] = min(from, r.now.Add(-sumsOverlap)); len(r.touched) >= sumsHours*r.page {
			if err := r.sum(ctx, 0); err != nil {
				return err
			}
		}
	}
}

// sum makes the sums of the hours that were touched, and records how far the feeds were read.
// until ends the run; 0: it goes on.
func (r *sumsRun) sum(ctx context.Context, until commerce.Millis) error {
	hours := slices.SortedFunc(maps.Keys(r.touched), func(a, b storeHour) int {
		return cmp.Or(cmp.Compare(a.storeNo, b.storeNo), cmp.Compare(a.hour, b.hour))
	})
	for len(hours) > 0 {
		n := 1
		for n < min(len(hours), sumsKept) && hours[n].storeNo == hours[0].storeNo {
			n++
		}
		if err := r.sumStore(ctx, hours[:n]); err != nil {
			return err
		}
		hours = hours[n:]
	}
	cmd := command.AdvanceSums{Worker: r.worker, Until: until}
	for _, name := range slices.Sorted(maps.Keys(r.reached)) {
		cmd.Feeds = append(cmd.Feeds, command.FeedPosition{Name: name, At: r.reached[name]})
	}
	advanced, err := commit.Do(ctx, r.committer, cmd)
	if err == nil && !advanced {
		err = errSumsLost
	}
	clear(r.touched)
	clear(r.reached)
	return err
}

// sumStore makes the sums of hours of one store.
func (r *sumsRun) sumStore(ctx context.Context, hours []storeHour) error {
	storeID, err := r.storeID(ctx, hours[0].storeNo)
	if err != nil {
		return ignoreMissing(err)
	}
	cmd := command.KeepSums{Worker: r.worker}
	for len(hours) > 0 {
		n := 1
		for n < len(hours) && hours[n].hour <= hours[n-1].hour+(1+sumsGap)*anHour {
			n++
		}
		sums, err := r.sumHours(ctx, storeID, hours[0], hours[n-1].hour+anHour)
		if err != nil {
			return err
		}
		cmd.Hours, hours = append(cmd.Hours, sums...), hours[n:]
	}
	return r.keep(ctx, cmd)
}

func (r *sumsRun) keep(ctx context.Context, cmd command.KeepSums) error {
	kept, err := commit.Do(ctx, r.committer, cmd)
	if err == nil && !kept {
		err = errSumsLost
	}
	r.renewed = r.o.Env.Now()
	return err
}

// sumHours sums all orders from an hour on, until another one begins.
func (r *sumsRun) sumHours(ctx context.Context, storeID string, first storeHour, until commerce.Millis) (list []command.KeptHour, err error) {
	type place struct {
		day  commerce.DaySumsKey
		hour int64
	}
	from, to := commerce.OrderIDsFrom(first.storeNo, first.hour), commerce.OrderIDsFrom(first.storeNo, until)
	at := map[place]int{}
	for {
		begun := r.o.Env.Now()
		page, err := r.reader.OrdersToSum(ctx, storeID, from, to, r.page)
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			o, made := f.Order, commerce.HourOf(commerce.TimeOfOrder(f.Order.ID))
			day := commerce.DayOf(made)
			p := place{commerce.DaySumsKey{StoreID: storeID, Day: day, Mode: o.Mode, PartnerID: o.PartnerID, Source: o.Source}, int64((made - day) / anHour)}
			i, met := at[p]
			if !met {
				i, at[p] = len(list), len(list)
				list = append(list, command.KeptHour{Day: p.day, Hour: commerce.HourSum{Hour: p.hour}})
			}
			list[i].Hour.Add(f)
		}
		if err := r.rest(ctx, begun); err != nil {
			return nil, err
		}
		if len(page) < r.page {
			return list, nil
		}
		from = page[len(page)-1].Order.ID + "0" // behind it, and before the next one
	}
}

// rest waits for as long as a read took that began then. A run that only reads for long is kept.
func (r *sumsRun) rest(ctx context.Context, begun time.Time) error {
	if r.o.Env.Since(r.renewed) > sumsRenewed {
		if err := r.keep(ctx, command.KeepSums{Worker: r.worker}); err != nil {
			return err
		}
	}
	return r.o.Env.Sleep(ctx, min(r.o.Env.Since(begun), sumsRest))
}
