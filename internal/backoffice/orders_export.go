package backoffice

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// ordersInPart is how many orders one read of a file has.
const ordersInPart = 500

var orderColumns = []string{"order_id", "external_order_id", "store_id", "store", "partner_id", "partner", "mode", "source", "status", "fulfillment", "created_on",
	"customer_name", "customer_email", "customer_phone", "items", "subtotal", "tax", "delivery_fee", "total", "refunded"}

// exportOrders writes the filtered list as CSV: page by page, so that no read stays open while
// the browser takes them. Before the last page it is written down that the user took the file.
func (v *visit) exportOrders() error {
	f, err := v.orderFilter(orderQueryOf(v.URL.Query()))
	if err != nil {
		return err
	}
	if f.Text != "" {
		return commerce.Invalid("q", "A search cannot be exported; filter the list instead")
	}
	list := f.filter
	list.Limit, list.Examine = ordersInPart, mostExamined
	part, begun, count := orderSheet{}, false, 0
	part.row(orderColumns)
	for {
		page, err := v.o.reads.OrderPage(v.Context(), list)
		if err != nil {
			return cutOff(v.exported(f, count, err), begun)
		}
		for _, row := range f.rows(page.Orders) {
			part.row(row.cells())
		}
		count += len(page.Orders)
		last := page.Next == storage.OrderPosition{}
		if last {
			if err := v.exported(f, count, nil); err != nil {
				return cutOff(err, begun)
			}
		}
		if !begun {
			v.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
			v.w.Header().Set("Content-Disposition", `attachment; filename="orders.csv"`)
		}
		if sent := v.send(part.Bytes()); last {
			return nil
		} else if !sent {
			return v.exported(f, count, nil) // the browser has gone with what it got
		}
		part.Reset()
		list.After, begun = page.Next, true
	}
}

// exported writes into the audit what the user took. It returns the error because of which the
// file ends, if there is one.
func (v *visit) exported(f orderFilter, count int, ends error) error {
	err := v.o.uses.RecordExport(context.WithoutCancel(v.Context()), v.caller(), f.Store, f.String(), count)
	if ends != nil {
		return ends
	}
	return err
}

// orderSheet is a part of a CSV file.
type orderSheet struct{ bytes.Buffer }

// row writes a row. Texts cannot become formulas.
func (s *orderSheet) row(cells []string) {
	w := csv.NewWriter(s)
	safe := make([]string, len(cells))
	for i, c := range cells {
		safe[i] = noFormula(c)
	}
	_ = w.Write(safe) // a buffer takes all
	w.Flush()
}

// cells are an order as a row of the file, its time on the clock of the store.
func (r orderRow) cells() []string {
	name, phone := "", ""
	if r.Address != nil {
		name, phone = r.Address.Name, r.Address.Phone
	}
	items := make([]string, len(r.Lines))
	for i, l := range r.Lines {
		items[i] = l.ProductID + " x" + strconv.FormatInt(l.Quantity, 10)
	}
	cells := []string{r.ID, r.ExternalID, r.StoreID, r.Store, r.PartnerID, r.Partner, string(r.Mode), r.Source, string(r.Status), string(r.Fulfillment),
		r.CreatedOn.Time().In(r.Zone).Format(time.RFC3339), name, r.CustomerEmail, phone, strings.Join(items, "; ")}
	for _, amount := range []commerce.Cents{r.SubtotalCents, r.TaxCents, r.DeliveryFeeCents, r.TotalCents, r.RefundedCents} {
		cells = append(cells, plain(amount))
	}
	return cells
}
