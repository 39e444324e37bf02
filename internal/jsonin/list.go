package jsonin

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bound is the number of elements that a List may have.
type Bound interface{ Most() int }

// List is an array with a bound. Decoding stops at the first element beyond the
// bound, so that a body of countless elements costs no more than a long list.
type List[T any, B Bound] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *List[T, B]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*l = nil
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '[', 0: // 0 is not JSON: ReadToken reports it
	default: // decoding ends with this error, so the value need not be skipped
		return &valueError{"must be an array"}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	var bound B
	for kind := d.PeekKind(); kind != ']'; kind = d.PeekKind() {
		if kind != 0 && len(*l) == bound.Most() {
			return &valueError{fmt.Sprintf("must have at most %d elements", bound.Most())}
		}
		var element T
		if err := json.UnmarshalDecode(d, &element); err != nil {
			return err
		}
		*l = append(*l, element)
	}
	_, err := d.ReadToken()
	return err
}
