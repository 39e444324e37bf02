package command

import (
	"errors"
	"reflect"
	"testing"

	"purveyor/internal/commerce"
)

// TestUpdateMetadata goes through every status: only the order is saved, and nothing is told.
func TestUpdateMetadata(t *testing.T) {
	for _, status := range commerce.Statuses {
		o := orderIn(status, commerce.ByPickup, true)
		o.Metadata, o.UpdatedOn = commerce.Metadata{"a": "1", "b": "2"}, now-1
		cmd := UpdateMetadata{Facts: FactsOf(o), Actor: byPartner, Changes: map[string]*string{"a": nil, "c": new("3")}}
		got, changes, err := decided(cmd, stored(o, 5), now)
		want := o
		want.Metadata, want.UpdatedOn = commerce.Metadata{"b": "2", "c": "3"}, now
		if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(changes, commerce.Changes{Orders: []commerce.Order{want}}) {
			t.Errorf("%s: %+v, %+v, %v", status, got, changes, err)
		}
		cmd.Changes = map[string]*string{"a b": new("")}
		_, changes, err = decided(cmd, stored(o, 5), now)
		if refusal, ok := errors.AsType[*commerce.Error](err); !ok || refusal.Field != "metadata.a b" || !reflect.DeepEqual(changes, commerce.Changes{}) {
			t.Errorf("%s: %+v, %v", status, changes, err)
		}
	}
}
