package wire

import (
	"github.com/go-json-experiment/json"

	"purveyor/internal/commerce"
)

type line struct {
	ProductID     string          `json:"product_id"`
	Quantity      int64           `json:"quantity"`
	Price         commerce.Cents  `json:"price"`
	OriginalPrice *commerce.Cents `json:"original_price"`
}

// ParseLines reads what AppendLines wrote.
func ParseLines(data []byte) ([]commerce.OrderLine, error) {
	var in []line
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	lines := make([]commerce.OrderLine, len(in))
	for i, l := range in {
		lines[i] = commerce.OrderLine{ProductID: l.ProductID, Quantity: l.Quantity, PriceCents: l.Price, OriginalPriceCents: l.OriginalPrice}
	}
	return lines, nil
}

type deliveryAddress struct {
	Name    string `json:"name"`
	Email   string `json:"email"`
	Phone   string `json:"phone"`
	Address struct {
		Line1      string `json:"line1"`
		Line2      string `json:"line2"`
		City       string `json:"city"`
		State      string `json:"state"`
		PostalCode string `json:"postal_code"`
		Country    string `json:"country"`
	} `json:"address"`
}

// ParseDeliveryAddress reads what AppendDeliveryAddress wrote; nil gives nil.
func ParseDeliveryAddress(data []byte) (*commerce.DeliveryAddress, error) {
	if data == nil {
		return nil, nil
	}
	var in deliveryAddress
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	return &commerce.DeliveryAddress{Name: in.Name, Email: in.Email, Phone: in.Phone, Address: commerce.Address(in.Address)}, nil
}
