package backoffice

import (
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// TestReasonsInWords: each code has words, and its next step is an action of orders.
func TestReasonsInWords(t *testing.T) {
	actions := orderFacts{}.actions()
	for _, r := range commerce.Reasons {
		w, known := reasonsInWords[r.Code]
		if !known || w.Title == "" || w.Means == "" || w.Step == "" || strings.HasSuffix(w.Means, ".") || len(w.Title) > 24 {
			t.Errorf("%s: %+v", r.Code, w)
		}
		if w.Next != "" && !slices.ContainsFunc(actions, func(a action) bool { return a.Name == w.Next }) {
			t.Errorf("%s: there is no action %s", r.Code, w.Next)
		}
	}
	if len(reasonsInWords) != len(commerce.Reasons) {
		t.Errorf("%d codes have words, of %d", len(reasonsInWords), len(commerce.Reasons))
	}
	if w := wordsOfReason("quite_new"); w.Title != "Quite new" {
		t.Errorf("an unknown code: %+v", w)
	}
}
