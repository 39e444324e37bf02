package backoffice

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/site/chart"
	"purveyor/internal/storage"
)

// productPage is the data of the page "product".
type productPage struct {
	commerce.Item
	Store    commerce.Store
	Zone     *time.Location
	URL      string
	Category string
	Facts    string
	Key      string
	Hosts    []string // of the pictures, which are not loaded
	Moves    []shownMove
	Line     template.HTML // the chart of the moves; empty: there are too few
	Older    string        // the address of the older moves; empty: there are none
	MayWrite bool
	MayCount bool
	Typed    typedStock
	Bad      string // the field at fault; empty: none
}

// typedStock is what was typed into the forms of the stock.
type typedStock struct{ Act, Counted, Delta, Reason, Reference string }

// shownMove is a stock move with its order and actor.
type shownMove struct {
	commerce.StockMove
	OrderID string // empty: no order caused it
	Actor   string
}

// movesOnPage is how many stock moves a page shows.
const movesOnPage = 50

// product shows one product: its facts, what can be done, and how its stock moved.
func (v *visit) product(item commerce.Item) error {
	page, err := v.productPage(item)
	if err != nil {
		return err
	}
	return v.page("product", item.Stock.Name, page)
}

func (v *visit) productPage(item commerce.Item) (page productPage, err error) {
	page = productPage{Item: item, URL: productPath(item.ID), Facts: item.Facts(), Key: v.NewKey(),
		MayWrite: v.user.May(commerce.MayWriteProducts, item.StoreID), MayCount: v.user.May(commerce.MayWriteInventory, item.StoreID)}
	if page.Store, err = v.o.reads.Store(v.Context(), item.StoreID); err != nil {
		return page, err
	}
	page.Zone = site.ZoneOf(page.Store)
	categories, err := v.o.reads.Categories(v.Context(), storage.CategoryFilter{})
	if err != nil {
		return page, err
	}
	for _, c := range categories {
		if c.ID == item.Stock.CategoryID {
			page.Category = c.Name
		}
	}
	for _, image := range append([]string{item.FeaturedImage}, item.Images...) {
		if image != "" {
			page.Hosts = append(page.Hosts, hostOf(image))
		}
	}
	return page, v.readMoves(&page)
}

// hostOf is the host of a picture's address: pictures are the partners', and a browser of the
// staff does not load them.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "no address"
}

// readMoves reads the page of stock moves that the query names, the newest without one.
func (v *visit) readMoves(page *productPage) error {
	from := page.Stock.NewestMove()
	if at, seq, ok := strings.Cut(v.URL.Query().Get("before"), "-"); ok {
		atMillis, _ := strconv.ParseInt(at, 10, 64) // a wrong position has no moves
		from.Seq, _ = strconv.ParseInt(seq, 10, 64)
		from.At = commerce.Millis(atMillis)
	}
	moves, err := v.o.reads.StockMoves(v.Context(), page.Stock.Key(), from, movesOnPage)
	if err != nil {
		return err
	}
	names, err := v.actorNames()
	if err != nil {
		return err
	}
	for _, m := range moves {
		shown := shownMove{StockMove: m}
		if m.Order != (commerce.OrderBody{}) {
			shown.OrderID = m.Order.OrderID(page.Store.No)
		}
		if m.Note != nil {
			shown.Actor = names.of(m.Note.Actor)
		}
		page.Moves = append(page.Moves, shown)
	}
	page.Line = lineOf(moves, page.Zone)
	if n := len(moves); n == movesOnPage && moves[n-1].Seq > 1 {
		next := moves[n-1].Before()
		page.Older = fmt.Sprintf("%s?before=%d-%d#history", page.URL, next.At, next.Seq)
	}
	return nil
}

// lineOf draws the quantities that moves left, the oldest at the left.
func lineOf(moves []commerce.StockMove, zone *time.Location) template.HTML {
	if len(moves) < 2 {
		return ""
	}
	line := chart.Chart{Title: "Pieces in stock after each move", Along: "Move", Series: []chart.Series{{Name: "In stock"}}}
	for _, m := range slices.Backward(moves) {
		line.Labels = append(line.Labels, m.At.Time().In(zone).Format("2 Jan 15:04"))
		line.Series[0].Values = append(line.Series[0].Values, float64(m.QuantityAfter))
	}
	return line.Lines()
}

// productAgain ends an act on a product that was refused: its page comes again, as it is now,
// with what was typed.
func (v *visit) productAgain(id string, refused error) error {
	item, err := v.o.uses.FindProduct(v.Context(), v.caller(), id)
	if err != nil {
		return refused
	}
	page, err := v.productPage(item)
	if err != nil {
		return err
	}
	act := v.URL.Path[strings.LastIndexByte(v.URL.Path, '/')+1:]
	page.Typed = typedStock{act, v.PostFormValue("counted"), v.PostFormValue("delta"), v.PostFormValue("reason"), v.PostFormValue("reference")}
	if e, ok := errors.AsType[*commerce.Error](refused); ok {
		page.Bad = e.Field[strings.LastIndexByte(e.Field, '.')+1:]
	}
	return v.again(refused, "product", item.Stock.Name, page)
}

// switchProduct takes a product off sale, or puts it back on sale.
func (v *visit) switchProduct(item commerce.Item) error {
	active := v.PostFormValue("active") == "yes"
	_, err := v.o.uses.UpsertProduct(v.Context(), v.caller(), service.UpsertProduct{ID: item.ID, StoreID: item.StoreID, Name: item.Stock.Name,
		CategoryID: item.Stock.CategoryID, Active: &active, Facts: v.PostFormValue("facts")}, service.Once[commerce.Item]{})
	if err != nil {
		return v.productAgain(item.ID, err)
	}
	said := item.Stock.Name + " is switched off: new orders of it are refused"
	if active {
		said = item.Stock.Name + " is for sale"
	}
	return v.done(productPath(item.ID), said)
}

// countStock sets the quantity to what was counted.
func (v *visit) countStock(item commerce.Item) error {
	in := service.CountStock{Product: item.Product.Key()}
	in.Moves, _ = strconv.ParseInt(v.PostFormValue("moves"), 10, 64) // none: it is not checked
	var err error
	if in.Counted, err = pieces("counted", v.PostFormValue("counted")); err == nil {
		in.Reason, err = v.reason()
	}
	say := func(c service.Counted) string {
		switch d := c.Difference(); {
		case d < 0:
			return fmt.Sprintf("Counted %d: %d fewer than recorded", c.Quantity, -d)
		case d > 0:
			return fmt.Sprintf("Counted %d: %d more than recorded", c.Quantity, d)
		}
		return fmt.Sprintf("Counted %d, as recorded", c.Quantity)
	}
	if err == nil {
		var out service.Outcome[service.Counted]
		if out, err = v.o.uses.CountStock(v.Context(), v.caller(), in, once(v, saying(say))); err == nil {
			return v.done(productPath(item.ID), saidOf(out, say))
		}
	}
	return v.productAgain(item.ID, err)
}

// adjustStock adds pieces to the stock, or takes some away.
func (v *visit) adjustStock(item commerce.Item) error {
	line := service.Adjustment{Product: item.Product.Key(), ExternalReference: commerce.Cut(strings.TrimSpace(v.PostFormValue("reference")), 255)}
	var err error
	if line.Delta, err = pieces("delta", v.PostFormValue("delta")); err == nil && line.Delta == 0 {
		err = commerce.Invalid("delta", "Please say how many pieces to add, or to take away")
	}
	if err == nil {
		line.Reason, err = v.reason()
	}
	say := func(done []service.Adjusted) string {
		return fmt.Sprintf("Adjusted by %+d: %d are in stock", done[0].Delta, done[0].Next)
	}
	if err == nil {
		var out service.Outcome[[]service.Adjusted]
		if out, err = v.o.uses.AdjustInventory(v.Context(), v.caller(), []service.Adjustment{line}, once(v, saying(say))); err == nil {
			return v.done(productPath(item.ID), saidOf(out, say))
		}
	}
	return v.productAgain(item.ID, err)
}

// pieces reads a whole number that was typed.
func pieces(field, text string) (int64, error) {
	text = strings.NewReplacer(" ", "", ",", "", "−", "-").Replace(text)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > commerce.MaxStock || n < -commerce.MaxStock {
		return 0, commerce.Invalid(field, "The number of pieces must be a whole number, at most %d", commerce.MaxStock)
	}
	return n, nil
}

// saying stores the notice of an act as its answer, so that a repeat gives the same notice.
func saying[R any](say func(R) string) func(R) (int, []byte) {
	return func(result R) (int, []byte) { return 200, []byte(say(result)) }
}

// saidOf is the notice of an act that may have been a repeat.
func saidOf[R any](out service.Outcome[R], say func(R) string) string {
	if out.Reply.Status != 0 {
		return string(out.Reply.Body)
	}
	return say(out.Result)
}
