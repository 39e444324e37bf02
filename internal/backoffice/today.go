package backoffice

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

const (
	// mostCounted is up to which number the first page counts.
	mostCounted = 1000
	mostLate    = 200 // orders of each status whose couriers are looked at
)

// few is a number as the first page counts.
func few(n int64) string {
	if n >= mostCounted {
		return "1,000+"
	}
	return strconv.FormatInt(n, 10)
}

// todayPage is the data of the page "today".
type todayPage struct {
	Now       commerce.Millis
	Zone      *time.Location
	Open      []storage.OpenCount
	Attention []storage.AttentionCount // the most urgent first
	Flags     int64                    // of all codes
	Refused   bool                     // a provider refuses our credentials
	Held      bool                     // jobs are held, because the database was restored
	Late      []commerce.Delivery
	Endpoints []endpointShown
	Orders    comparison
	Through   commerce.Millis // up to when orders are compared; 0: nothing is summed yet
}

// endpointShown is the endpoint of a partner that does not get its webhooks.
type endpointShown struct {
	commerce.Endpoint
	Partner string
}

// comparison is today beside the same weekday a week ago, up to the same time of day.
type comparison struct {
	Today, Before reportLine
	// Hours and HoursBefore count orders by the hour of the day, up to the last hour that is over.
	Hours, HoursBefore []float64
}

// today shows what is going on in the user's stores.
func (v *visit) today() error {
	stores, err := v.storesOf(commerce.MayReadOrders)
	if err == nil {
		stores, err = v.narrowed(stores)
	}
	if err != nil {
		return err
	}
	p := todayPage{Now: commerce.MillisOf(v.o.env.Now()), Zone: time.UTC}
	if len(stores) > 0 {
		p.Zone = site.ZoneOf(stores[0])
	}
	ids := make([]string, len(stores))
	for i, s := range stores {
		ids[i] = s.ID
	}
	of := ids // all stores are no list of them, which takes longer
	if wanted, _ := v.wantedStore(); wanted == "" && v.user.MayEverywhere(commerce.MayReadOrders) {
		of = nil
	}
	if p.Open, err = v.o.reads.OpenCounts(v.Context(), of, mostCounted); err != nil {
		return err
	}
	if err := v.addAttention(&p, of); err != nil {
		return err
	}
	held, err := v.o.reads.Jobs(v.Context(), storage.JobFilter{State: commerce.JobHeld, Limit: 1})
	if err != nil {
		return err
	}
	p.Held = len(held) > 0
	if p.Late, err = v.o.reads.LateDeliveries(v.Context(), of, p.Now, mostLate); err != nil {
		return err
	}
	slices.SortFunc(p.Late, func(a, b commerce.Delivery) int { return cmp.Compare(a.DropoffETA, b.DropoffETA) })
	if p.Endpoints, err = v.silentEndpoints(ids); err != nil {
		return err
	}
	if p.Through, p.Orders, err = v.compare(stores, p.Now); err != nil {
		return err
	}
	return v.page("today", "Today", p)
}

// narrowed are the stores that a page shows: all, or the one of the URL's query or of the store
// switch.
func (v *visit) narrowed(stores []commerce.Store) ([]commerce.Store, error) {
	wanted, asked := v.wantedStore()
	if wanted == "" {
		return stores, nil
	}
	i := slices.IndexFunc(stores, func(s commerce.Store) bool { return s.ID == wanted })
	switch {
	case i >= 0:
		return stores[i : i+1], nil
	case asked:
		return nil, commerce.NotFound("store")
	}
	return stores, nil // the switch is of a store in which the user may not do this
}

// wantedStore is the store that a list is narrowed to; empty: it is not. asked reports that the
// URL says so.
func (v *visit) wantedStore() (id string, asked bool) {
	if in := v.URL.Query(); in.Has("store") {
		return in.Get("store"), true
	}
	return v.chosen(), false
}

func (v *visit) addAttention(p *todayPage, stores []string) (err error) {
	if p.Attention, err = v.o.reads.AttentionCounts(v.Context(), stores, mostCounted); err != nil {
		return err
	}
	slices.SortFunc(p.Attention, func(a, b storage.AttentionCount) int { return cmp.Compare(a.Code.Rank(), b.Code.Rank()) })
	for _, c := range p.Attention {
		p.Flags += c.Count
		p.Refused = p.Refused || c.Code == commerce.AttentionProviderRefusesUs
	}
	return nil
}

// silentEndpoints are the endpoints that fail or are paused, of partners that sell in the stores.
// Only users that may see partners get them.
func (v *visit) silentEndpoints(stores []string) (list []endpointShown, err error) {
	partners, err := v.o.reads.Partners(v.Context())
	if err != nil {
		return nil, err
	}
	var owners []string
	names := map[string]string{}
	for _, p := range partners {
		sells := func(store string) bool { return v.user.May(commerce.MayReadPartners, store) && p.MayUse(store) == nil }
		if slices.ContainsFunc(stores, sells) {
			owners, names[p.ID] = append(owners, p.Owners()...), p.Name
		}
	}
	if len(owners) == 0 {
		return nil, nil
	}
	endpoints, err := v.o.reads.Endpoints(v.Context(), owners)
	for _, owner := range owners {
		if e := endpoints[owner]; e.Failing() || e.PausedOn != 0 {
			list = append(list, endpointShown{e, names[e.PartnerID]})
		}
	}
	return list, err
}

// compare adds up the orders of today and of the same weekday last week, on each store's clock.
func (v *visit) compare(stores []commerce.Store, now commerce.Millis) (through commerce.Millis, c comparison, err error) {
	position, err := v.o.reads.SumPosition(v.Context(), commerce.SumRun)
	if errors.Is(err, storage.ErrNotFound) || err == nil && len(stores) == 0 {
		return 0, c, nil
	}
	if err != nil {
		return 0, c, err
	}
	through = position.At
	key := comparisonKey{through, commerce.HourOf(now), digestOf(stores)}
	if kept, known := v.o.comparisons.Load(key); known {
		return through, kept.(comparison), nil
	}
	if c.Today, c.Hours, err = v.partOfDay(stores, now, through, 0); err == nil {
		c.Before, c.HoursBefore, err = v.partOfDay(stores, now, through, 7)
	}
	if err == nil {
		v.o.comparisons.Range(func(old, _ any) bool { // those of earlier hours are of no use
			if old.(comparisonKey).hour != key.hour {
				v.o.comparisons.Delete(old)
			}
			return true
		})
		v.o.comparisons.Store(key, c)
	}
	return through, c, err
}

// comparisonKey is what a comparison depends on. Sums change once an hour, so that every further
// look at the first page does not need them.
type comparisonKey struct {
	through, hour commerce.Millis
	stores        [32]byte
}

// digestOf is a digest of the stores and their clocks.
func digestOf(stores []commerce.Store) [32]byte {
	h := sha256.New()
	for _, s := range stores {
		fmt.Fprintf(h, "%q %q\n", s.ID, s.TimeZone)
	}
	return [32]byte(h.Sum(nil))
}

// partOfDay adds up the orders of the day so many days ago, up to the time of day that through is.
func (v *visit) partOfDay(stores []commerce.Store, now, through commerce.Millis, ago int) (sum reportLine, hours []float64, err error) {
	type part struct{ from, until commerce.Millis }
	parts, zones := map[string]part{}, map[string]*time.Location{}
	f, zoneOfStore := storage.SumFilter{Mode: commerce.Live, From: math.MaxInt64}, make(map[string]string, len(stores))
	for _, s := range stores {
		f.StoreIDs, zoneOfStore[s.ID] = append(f.StoreIDs, s.ID), s.TimeZone
		if _, known := parts[s.TimeZone]; known {
			continue
		}
		zone := site.ZoneOf(s)
		day := now.Time().In(zone).AddDate(0, 0, -ago)
		p := part{midnight(day, zone), commerce.MillisOf(through.Time().In(zone).AddDate(0, 0, -ago))}
		parts[s.TimeZone], zones[s.TimeZone] = p, zone
		f.From, f.Until = min(f.From, p.from), max(f.Until, p.until)
	}
	hours = make([]float64, 24)
	last, of, zone := 0, "", "" // zone is that of the store
	type clock struct {
		zone string
		at   commerce.Millis
	}
	shows := map[clock]int{} // the hour of the day
	f.From = commerce.HourOf(f.From)
	err = v.o.reads.HourSums(v.Context(), f, func(key commerce.DaySumsKey, h *commerce.HourSum) {
		if key.StoreID != of {
			of, zone = key.StoreID, zoneOfStore[key.StoreID]
		}
		at := key.Day + commerce.Millis(h.Hour)*hourOfMillis
		if p := parts[zone]; at < p.from || at >= p.until {
			return
		}
		hour, known := shows[clock{zone, at}]
		if !known {
			hour = at.Time().In(zones[zone]).Hour()
			shows[clock{zone, at}] = hour
		}
		sum.addFigures(h)
		hours[hour] += float64(h.Of(commerce.SumMade))
	})
	for zone, p := range parts { // the hours that are over in the zone that is ahead
		if p.until > p.from {
			last = max(last, (p.until-1).Time().In(zones[zone]).Hour()+1)
		}
	}
	return sum, hours[:last], err
}
