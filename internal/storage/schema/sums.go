package schema

import (
	"encoding/binary"
	"errors"

	"purveyor/internal/commerce"
)

// HourSums has the sums that reports are made from. A row has the hours of a day, because a
// report over all stores reads every hour: one row for each would be twenty times as many.
var HourSums = Table[commerce.DaySumsKey, commerce.DaySums]{
	Name: "hour_sums", Key: "store_id, day, mode, partner_id, source", Mutable: "hours",
	KeyOf: func(v *commerce.DaySums) commerce.DaySumsKey { return v.DaySumsKey },
	BindKey: func(b Binder, k commerce.DaySumsKey) {
		b.Text(k.StoreID).Int(int64(k.Day)).Text(string(k.Mode)).Text(k.PartnerID).Text(k.Source)
	},
	BindMutable: func(b Binder, v *commerce.DaySums) { b.Blob(packHours(v.Hours)) },
	Scan: func(s Scanner, k commerce.DaySumsKey) commerce.DaySums {
		v := commerce.DaySums{DaySumsKey: k}
		UnpackHours(s, func(h *commerce.HourSum) { v.Hours = append(v.Hours, *h) })
		return v
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.DaySumsKey, commerce.DaySums] { return &r.HourSums },
	Needs:   func(n *commerce.Needs) *[]commerce.DaySumsKey { return &n.HourSums },
	Changes: func(c *commerce.Changes) *[]commerce.DaySums { return &c.HourSums },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Collides: true},
}

// ScanDaySumsKey reads the key of HourSums.
func ScanDaySumsKey(s Scanner) commerce.DaySumsKey {
	return commerce.DaySumsKey{StoreID: s.Text(), Day: millis(s), Mode: commerce.Mode(s.Text()), PartnerID: s.Text(), Source: s.Text()}
}

// SumPositions says how far the sums have come.
var SumPositions = Table[string, commerce.SumPosition]{
	Name: "sum_positions", Key: "name", Mutable: "at, worker, leased_until",
	KeyOf:       func(v *commerce.SumPosition) string { return v.Name },
	BindKey:     bindText,
	BindMutable: func(b Binder, v *commerce.SumPosition) { b.Int(int64(v.At)).Text(v.Worker).Int(int64(v.LeasedUntil)) },
	Scan: func(s Scanner, name string) commerce.SumPosition {
		return commerce.SumPosition{Name: name, At: millis(s), Worker: s.Text(), LeasedUntil: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.SumPosition] { return &r.SumPositions },
	Needs:   func(n *commerce.Needs) *[]string { return &n.SumPositions },
	Changes: func(c *commerce.Changes) *[]commerce.SumPosition { return &c.SumPositions },
	Lock:    LockAll,
	Traits:  Traits{Shard: "name", Collides: true},
}

// hour_sums.hours has, for each hour: its number, and then the figures and the two tables of
// waits, each as the number of its values and the values up to the last one that is not 0.
// All are variable-length integers. So a program reads rows with fewer figures than it knows.
func packHours(hours []commerce.HourSum) []byte {
	b := []byte{}
	for i := range hours {
		h := &hours[i]
		b = binary.AppendUvarint(b, uint64(h.Hour))
		for _, list := range [][]int64{h.Figures[:], h.Confirm[:], h.Finish[:]} {
			n := len(list)
			for n > 0 && list[n-1] == 0 {
				n--
			}
			b = binary.AppendUvarint(b, uint64(n))
			for _, v := range list[:n] {
				b = binary.AppendUvarint(b, uint64(v))
			}
		}
	}
	return b
}

var errHours = errors.New("its end is missing, or it is newer than this program")

// UnpackHours reads the hours of a row of HourSums. The sum that f gets is overwritten by the
// next one. A report has hundreds of thousands of hours, and most numbers are below 128.
func UnpackHours(s Scanner, f func(*commerce.HourSum)) {
	b := s.Blob()
	at, broken := 0, false
	next := func() int64 {
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			broken = true
			return 0
		}
		at += n
		return int64(v)
	}
	var h commerce.HourSum
	for at < len(b) && !broken {
		h = commerce.HourSum{Hour: next()}
		for _, list := range [...][]int64{h.Figures[:], h.Confirm[:], h.Finish[:]} {
			n := int(next())
			if n > len(list) {
				broken = true
				break
			}
			for i := range list[:n] {
				if at < len(b) && b[at] < 0x80 {
					list[i] = int64(b[at])
					at++
				} else {
					list[i] = next()
				}
			}
		}
		if !broken {
			f(&h)
		}
	}
	if broken {
		unreadable(s, "hours", errHours)
	}
}

// SumOrderColumns are the columns of orders that ScanSumOrder reads.
const SumOrderColumns = "id, partner_id, mode, source, status, total_cents, tax_cents, delivery_fee_cents, refunded_cents"

// ScanSumOrder reads SumOrderColumns.
func ScanSumOrder(s Scanner, storeID string) commerce.Order {
	return commerce.Order{StoreID: storeID, ID: s.Text(), PartnerID: s.Text(), Mode: commerce.Mode(s.Text()), Source: s.Text(),
		Status: commerce.OrderStatus(s.Text()), TotalCents: commerce.Cents(s.Int()), TaxCents: commerce.Cents(s.Int()),
		DeliveryFeeCents: commerce.Cents(s.Int()), RefundedCents: commerce.Cents(s.Int())}
}

// SumEventColumns are the columns of timeline that ScanSumEvent reads: of few events their
// data are looked at.
const SumEventColumns = "order_id, kind, created_on, CASE WHEN kind = 'delivery.created' THEN data END"

// ScanSumEvent reads SumEventColumns.
func ScanSumEvent(s Scanner) (orderID string, e commerce.SumEvent) {
	orderID, e = s.Text(), commerce.SumEvent{Kind: commerce.TimelineKind(s.Text()), CreatedOn: millis(s)}
	if d, ok := decodeTimelineData(s, e.Kind).(commerce.DeliveryData); ok {
		e.DropoffETA = d.DropoffETA
	}
	return orderID, e
}
