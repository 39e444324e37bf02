package wire

import (
	"github.com/go-json-experiment/json"

	"purveyor/internal/commerce"
)

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
