package commerce

import "testing"

func TestWithoutPassword(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"https://p.example/hook":           "https://p.example/hook",
		"https://ann:hush@p.example/hook":  "https://ann:xxxxx@p.example/hook",
		"https://ann@p.example/hook?a=b@c": "https://ann@p.example/hook?a=b@c",
		"https://ann:hush@p.example/%":     "a URL that cannot be read",
	} {
		if got := WithoutPassword(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
