package backoffice

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// act names the version of the order that the form was made from.
func (v *visit) actor() service.Caller {
	by := v.caller()
	by.Seen = v.seen()
	return by
}

// askPage is the data of the page "order_act": the form of an act that asks for something.
type askPage struct {
	orderPage
	Act    action
	Key    string // the idempotency key of the form
	Typed  typedAct
	Back   string // the page that the act was sent from; empty: that of the order
	Refund bool   // the act may give money back
	Pieces []piecesField
	Since  []entry // what happened since the page was made that a refused form came from
}

// typedAct is what was typed into the form of an act.
type typedAct struct{ Amount, Reason, Text, Refund, Minutes, By, Restock string }

// piecesField asks how many pieces of a product are refunded.
type piecesField struct {
	Field string // its name in the form
	Name  string // of the product
	Left  int64  // the pieces that can be
	Typed string
}

// asking is the handler of the page that asks for an act.
func asking(name string) func(*visit) error {
	return ofOrder(func(v *visit, o commerce.Order) error {
		page, err := v.ask(o, name)
		if err != nil {
			return err
		}
		if page.Payment != nil {
			page.Typed.Amount = plain(page.Payment.Left())
		}
		page.Typed.Refund = "yes"
		if minutes := o.ReadyInMinutes; minutes != nil {
			page.Typed.Minutes = strconv.FormatInt(*minutes, 10)
		}
		return v.page("order_act", page.Act.Word+": order "+site.Short(o.ID), page)
	})
}

func (v *visit) ask(o commerce.Order, name string) (page askPage, err error) {
	if page.orderPage, err = v.orderPage(o); err != nil {
		return page, err
	}
	for _, a := range page.actions() {
		if a.Name == name {
			page.Act = a
		}
	}
	page.Key, page.Refund = v.NewKey(), page.Payment != nil && page.Payment.Left() > 0
	for _, l := range page.Order.PiecesLeft() {
		i := slices.IndexFunc(page.Lines, func(s shownLine) bool { return s.ProductID == l.ProductID })
		page.Pieces = append(page.Pieces, piecesField{piecesOf(l.ProductID), page.Lines[i].Name, l.Quantity, v.PostFormValue(piecesOf(l.ProductID))})
	}
	return page, nil
}

// acted ends an act on an order: with the page that it was done from, or with its form again and
// what changed meanwhile. An act that has no form is refused with a page of its own.
func (v *visit) acted(o commerce.Order, name, said string, refused error) error {
	if refused == nil {
		return v.done(v.back(o), said)
	}
	now, err := v.o.uses.FindOrder(v.Context(), v.caller(), o.ID)
	if err != nil {
		return refused
	}
	page, err := v.ask(now, name)
	if err != nil {
		return refused
	}
	page.Back = v.PostFormValue("back")
	page.Typed = typedAct{v.PostFormValue("amount"), v.PostFormValue("reason"), v.PostFormValue("text"), v.PostFormValue("refund"), v.PostFormValue("minutes"), v.PostFormValue("by"), v.PostFormValue("restock")}
	if page.Order.UpdatedOn == v.seen() {
		page.Key = v.formKey() // the same form again
	}
	for _, e := range page.Story {
		if e.At > v.seen() && v.seen() != 0 {
			page.Since = append(page.Since, e)
		}
	}
	return v.again(refused, "order_act", page.Act.Word+": order "+site.Short(o.ID), page)
}

// back is the page from which an act was sent.
func (v *visit) back(o commerce.Order) string {
	switch v.PostFormValue("back") {
	case "board":
		return Prefix + "/board"
	case "attention":
		return Prefix + "/attention"
	}
	return Prefix + "/orders/" + o.ID
}

func (v *visit) confirm(o commerce.Order) error {
	minutes, err := v.minutes()
	var out service.Outcome[service.Advanced]
	if err == nil {
		out, err = v.o.uses.ConfirmOrder(v.Context(), v.actor(), service.ConfirmOrder{Order: o, ReadyInMinutes: minutes})
	}
	said := "Order " + site.Short(o.ID) + " is confirmed"
	if err == nil && out.Pending != nil {
		said += "; a courier is still being looked for"
	}
	return v.acted(o, doConfirm, said, err)
}

// minutes are those after which a courier can have the goods; nil: the field is empty, or the
// form has none.
func (v *visit) minutes() (*int64, error) {
	text := strings.TrimSpace(v.PostFormValue("minutes"))
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > commerce.MaxReadyMinutes {
		return nil, commerce.Invalid("minutes", "The minutes must be a whole number from 0 to %d", commerce.MaxReadyMinutes)
	}
	return &n, nil
}

func (v *visit) markReady(o commerce.Order) error {
	_, err := v.o.uses.MarkReady(v.Context(), v.actor(), service.Handover{Order: o})
	return v.acted(o, doReady, "Order "+site.Short(o.ID)+" is ready", err)
}

func (v *visit) markPickedUp(o commerce.Order) error {
	_, err := v.o.uses.MarkPickedUp(v.Context(), v.actor(), service.Handover{Order: o})
	return v.acted(o, doPickedUp, "Order "+site.Short(o.ID)+" is picked up", err)
}

func (v *visit) dispatchAgain(o commerce.Order) error {
	_, err := v.o.uses.DispatchAgain(v.Context(), v.actor(), service.ForReason{Order: o, Reason: v.PostFormValue("reason")})
	return v.acted(o, doDispatch, "Another courier is looked for", err)
}

func (v *visit) addNote(o commerce.Order) error {
	_, err := v.o.uses.AddNote(v.Context(), v.actor(), o, strings.TrimSpace(v.PostFormValue("text")), once(v, answered[commerce.Order]))
	return v.acted(o, doNote, "The note is added", err)
}

func (v *visit) requestRefund(o commerce.Order) error {
	reason, err := v.reason()
	if err == nil {
		_, err = v.o.uses.RequestRefund(v.Context(), v.actor(), service.ForReason{Order: o, Reason: reason})
	}
	return v.acted(o, doRequest, "The refund is requested", err)
}

func (v *visit) declineRefund(o commerce.Order) error {
	reason, err := v.reason()
	if err == nil {
		_, err = v.o.uses.DeclineRefund(v.Context(), v.actor(), service.ForReason{Order: o, Reason: reason})
	}
	return v.acted(o, doDecline, "The refund is declined", err)
}

// reason is the reason that an act must have.
func (v *visit) reason() (string, error) {
	reason := commerce.CleanText(strings.TrimSpace(v.PostFormValue("reason")), commerce.MaxNote)
	if reason == "" {
		return "", commerce.Invalid("reason", "Please give a reason")
	}
	return reason, nil
}

// byLines says that a refund is of pieces and not of an amount.
const byLines = "lines"

// piecesOf is the field of a form for the pieces of a product.
func piecesOf(productID string) string { return "pieces of " + productID }

func (v *visit) refund(o commerce.Order) error {
	in, said, err := v.typedRefund(o)
	var out service.Outcome[commerce.Refund]
	if err == nil {
		out, err = v.o.uses.RefundOrder(v.Context(), v.actor(), in, once(v, awaited[commerce.Refund]))
	}
	if err == nil && out.Pending != nil {
		return v.acted(o, doRefund, said+" being refunded; the payment processor has not answered yet", nil)
	}
	return v.acted(o, doRefund, said+" refunded", err)
}

// typedRefund is the refund that was typed, and the begin of a sentence about it. Pieces beside an amount are refused, since
// the larger of the two might go back by mistake.
func (v *visit) typedRefund(o commerce.Order) (in service.RefundOrder, said string, err error) {
	in = service.RefundOrder{Order: o}
	if in.Reason, err = v.reason(); err != nil {
		return in, "", err
	}
	lines, pieces, err := v.typedPieces(o)
	in.Restock = v.PostFormValue("restock") != ""
	byPieces := v.PostFormValue("by") == byLines
	switch {
	case err != nil:
		return in, "", err
	case !byPieces && (pieces > 0 || in.Restock):
		return in, "", commerce.Invalid("by", "Choose whether an amount or pieces go back; pieces are typed, and an amount is chosen")
	case byPieces && pieces == 0:
		return in, "", commerce.Invalid("lines", "Please say how many pieces are refunded")
	case pieces == 1:
		in.Lines = lines
		return in, "1 piece is", nil
	case byPieces:
		in.Lines = lines
		return in, site.Count(pieces, "piece") + " are", nil
	}
	amount, err := commerce.ParseScaled(strings.TrimPrefix(strings.TrimSpace(v.PostFormValue("amount")), "$"), 2)
	if err != nil || amount <= 0 {
		err = commerce.Invalid("amount", "The amount must be above 0, in dollars, like 4.50")
	}
	in.AmountCents = commerce.Cents(amount)
	return in, in.AmountCents.Dollars() + " is", err
}

// typedPieces are the pieces that were typed, and how many they are. Of which too few are left, the use case knows, as it knows
// a repeat.
func (v *visit) typedPieces(o commerce.Order) (lines []commerce.RefundLine, pieces int64, err error) {
	for _, l := range o.PiecesLeft() {
		text := strings.TrimSpace(v.PostFormValue(piecesOf(l.ProductID)))
		if text == "" || text == "0" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > commerce.MaxQuantity {
			return nil, 0, commerce.Invalid("lines", "The pieces of each product must be a whole number")
		}
		lines = append(lines, commerce.RefundLine{ProductID: l.ProductID, Quantity: n})
		pieces += n
	}
	return lines, pieces, nil
}

func (v *visit) cancel(o commerce.Order) error {
	reason, err := v.reason()
	var out service.Outcome[service.Cancelled]
	if err == nil {
		out, err = v.o.uses.CancelOrder(v.Context(), v.actor(), service.CancelOrder{Order: o, Reason: reason, Refund: v.PostFormValue("refund") == "yes"}, once(v, answered[service.Cancelled]))
	}
	said := "Order " + site.Short(o.ID) + " is cancelled"
	if err == nil && out.Pending != nil {
		said += "; a provider has not answered yet"
	}
	return v.acted(o, doCancel, said, err)
}

func (v *visit) resolveAttention(o commerce.Order) error {
	code := commerce.AttentionCode(v.PathValue("code"))
	if code.AboutMoney() && !v.user.May(commerce.MayWriteRefunds, o.StoreID) {
		return missing(commerce.MayWriteRefunds, o.StoreID)
	}
	since, _ := strconv.ParseInt(v.PostFormValue("since"), 10, 64) // none: whenever it was raised
	_, err := v.o.uses.ResolveAttention(v.Context(), v.actor(), service.ResolveAttention{Order: o, Code: code, Since: commerce.Millis(since), Note: strings.TrimSpace(v.PostFormValue("note"))})
	if err == nil {
		return v.done(v.back(o), "Resolved: "+site.Word(string(code)))
	}
	now, failed := v.o.uses.FindOrder(v.Context(), v.caller(), o.ID)
	if failed != nil {
		return err
	}
	page, failed := v.orderPage(now)
	if failed != nil {
		return err
	}
	page.Resolving, page.Note = code, v.PostFormValue("note")
	return v.again(err, "order", "Order "+site.Short(o.ID), page)
}

// answered is the stored answer of an act that is decided at once. Pages read the outcome from
// the rows, so it says no more than that.
func answered[R any](R) (status int, body []byte) { return http.StatusOK, []byte("{}") }

// awaited is the answer of an act whose outcome a job decides.
func awaited[R any](R) (status int, body []byte) { return 0, nil }

// plain is an amount as it is typed: 4.50.
func plain(c commerce.Cents) string {
	return strings.ReplaceAll(strings.TrimPrefix(c.Dollars(), "$"), ",", "")
}
