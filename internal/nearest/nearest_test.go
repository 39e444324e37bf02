package nearest

import "testing"

func TestOf(t *testing.T) {
	names := []string{"available_quantity", "active", "name", "store_id"}
	for name, want := range map[string]string{"avaliable_quantity": "available_quantity", "availble_quantty": "available_quantity", "actve": "active",
		"nmae": "name", "storeid": "store_id", "active": "active", "": "", "colour": "", "id": ""} {
		if got := Of(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
