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

func TestOfVariables(t *testing.T) {
	names := []string{"PURVEYOR_LISTEN", "PURVEYOR_SMTP_HOST", "PURVEYOR_SMTP_PORT", "PURVEYOR_URL"}
	for name, want := range map[string]string{"PURVEYOR_LISTNE": "PURVEYOR_LISTEN", "PURVEYOR_SMTP_PROT": "PURVEYOR_SMTP_PORT", "PURVEYOR_STMP_HOST": "PURVEYOR_SMTP_HOST",
		"PURVEYOR_SMTPHOST": "PURVEYOR_SMTP_HOST", "PURVEYOR_WRITERS": "", "": "", "X": ""} {
		if got := Of(name, names); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
