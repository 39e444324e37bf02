package schema

import (
	"fmt"
	"time"

	"purveyor/internal/commerce"
)

const etaLayout = "2006-01-02T15:04:05.000Z"

// The forms of timeline.data, one for each type of commerce.TimelineData.
type (
	noteForm struct {
		Code  string     `json:"code"`
		Moves []moveForm `json:"inventory,omitzero"`
	}
	stockForm struct {
		Moves []moveForm `json:"inventory"`
	}
	moveForm struct {
		ProductID string `json:"product_id"`
		Delta     int64  `json:"delta"`
		Left      int64  `json:"available_quantity"`
	}
	paymentForm struct {
		AmountCents commerce.Cents `json:"amount_cents"`
		PaymentID   string         `json:"payment_id"`
	}
	refundForm struct {
		RefundID    string         `json:"payments_refund_id"`
		AmountCents commerce.Cents `json:"amount_refunded_cents"`
		TotalCents  commerce.Cents `json:"total_refunded_cents"`
		Reason      string         `json:"reason,omitzero"`
		Moves       []moveForm     `json:"inventory,omitzero"`
	}
	deliveryForm struct {
		CourierDeliveryID  *string                 `json:"courier_delivery_id"`
		CourierTrackingURL *string                 `json:"courier_tracking_url"`
		Status             commerce.OrderStatus    `json:"status"`
		CourierStatus      *commerce.CourierStatus `json:"courier_delivery_status"`
		DropoffETA         *string                 `json:"estimated_delivery_time"` // of etaLayout
		Imminent           bool                    `json:"courier_imminent"`
		Courier            courierForm             `json:"courier"`
	}
	courierForm struct {
		Name     string     `json:"name,omitzero"`
		Phone    string     `json:"phone_number,omitzero"`
		Vehicle  string     `json:"vehicle_type,omitzero"`
		ImageURL string     `json:"img_href,omitzero"`
		At       *pointForm `json:"location,omitzero"`
	}
	pointForm struct {
		Lat float64 `json:"lat"`
		Lng float64 `json:"lng"`
	}
)

// encodeTimelineData gives NULL for no data.
func encodeTimelineData(data commerce.TimelineData) []byte {
	switch d := data.(type) {
	case nil:
		return nil
	case commerce.NoteData:
		return encode(noteForm{d.Code, moveForms(d.Moves)})
	case commerce.StockData:
		return encode(stockForm{moveForms(d.Moves)})
	case commerce.PaymentData:
		return encode(paymentForm(d))
	case commerce.RefundData:
		return encode(refundForm{d.RefundID, d.AmountCents, d.TotalCents, d.Reason, moveForms(d.Moves)})
	case commerce.DeliveryData:
		return encode(deliveryFormOf(d))
	}
	panic(fmt.Sprintf("timeline data of type %T has no form", data))
}

// decodeTimelineData reads the form that events of the kind have.
func decodeTimelineData(s Scanner, kind commerce.TimelineKind) commerce.TimelineData {
	text := s.JSON()
	if text == nil {
		return nil
	}
	switch kind {
	case commerce.TimelineNote:
		f := decodeText[noteForm](s, text, "data")
		return commerce.NoteData{Code: f.Code, Moves: movesOf(f.Moves)}
	case commerce.TimelinePendingPayment, commerce.TimelineFailedPayment, commerce.TimelineProcessed, commerce.TimelineCancelled:
		return commerce.StockData{Moves: movesOf(decodeText[stockForm](s, text, "data").Moves)}
	case commerce.TimelinePaid:
		return commerce.PaymentData(decodeText[paymentForm](s, text, "data"))
	case commerce.TimelineRefunded:
		f := decodeText[refundForm](s, text, "data")
		return commerce.RefundData{RefundID: f.RefundID, AmountCents: f.AmountCents, TotalCents: f.TotalCents, Reason: f.Reason, Moves: movesOf(f.Moves)}
	}
	return decodeText[deliveryForm](s, text, "data").facts(s)
}

func moveForms(moves []commerce.InventoryMove) []moveForm {
	return each(moves, func(m commerce.InventoryMove) moveForm { return moveForm(m) })
}

func movesOf(forms []moveForm) []commerce.InventoryMove {
	return each(forms, func(f moveForm) commerce.InventoryMove { return commerce.InventoryMove(f) })
}

func deliveryFormOf(d commerce.DeliveryData) deliveryForm {
	f := deliveryForm{orNull(d.CourierDeliveryID), orNull(d.CourierTrackingURL), d.Status, orNull(d.CourierStatus), nil, d.Imminent,
		courierForm{Name: d.Courier.Name, Phone: d.Courier.Phone, Vehicle: d.Courier.Vehicle, ImageURL: d.Courier.ImageURL}}
	if d.DropoffETA != 0 {
		eta := d.DropoffETA.Time().UTC().Format(etaLayout)
		f.DropoffETA = &eta
	}
	if at := d.Courier.At; at != nil {
		f.Courier.At = &pointForm{at.Lat, at.Lng}
	}
	return f
}

func (f deliveryForm) facts(s Scanner) commerce.DeliveryData {
	d := commerce.DeliveryData{CourierDeliveryID: orEmpty(f.CourierDeliveryID), CourierTrackingURL: orEmpty(f.CourierTrackingURL), Status: f.Status,
		CourierStatus: orEmpty(f.CourierStatus), Imminent: f.Imminent,
		Courier: commerce.Courier{Name: f.Courier.Name, Phone: f.Courier.Phone, Vehicle: f.Courier.Vehicle, ImageURL: f.Courier.ImageURL}}
	if f.DropoffETA != nil {
		eta, err := time.Parse(etaLayout, *f.DropoffETA)
		if err != nil {
			unreadable(s, "data", err)
		}
		d.DropoffETA = commerce.MillisOf(eta)
	}
	if at := f.Courier.At; at != nil {
		d.Courier.At = &commerce.Point{Lat: at.Lat, Lng: at.Lng}
	}
	return d
}

// orNull is nil, which is written as null, for an empty text.
func orNull[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

func orEmpty[T ~string](v *T) (text T) {
	if v != nil {
		text = *v
	}
	return text
}
