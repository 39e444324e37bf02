package watch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/watch"
)

type refusal struct{}

func (*refusal) Error() string { return "no" }

// Failures are reported with the provider's name. Answers are not, nor is a call that
// its caller gave up.
func TestCall(t *testing.T) {
	isDown := errors.New("no route")
	for _, c := range []struct {
		err             error
		reported, typed bool
	}{{nil, false, false}, {&refusal{}, false, false}, {isDown, true, true}, {&commerce.CredentialsError{Message: "revoked"}, true, true}, {context.Canceled, false, true}} {
		var reported []*commerce.ProviderError
		ends := ""
		calls := watch.Calls[*refusal]{Provider: "near", Watcher: watch.Watcher{Failed: func(f *commerce.ProviderError) { reported = append(reported, f) },
			Began: func(provider, call string) func(error, bool) {
				return func(err error, refused bool) { ends += fmt.Sprint(provider, " ", call, ": ", err, " ", refused) }
			}}}
		got, err := watch.Call(t.Context(), calls, "add", func(_ context.Context, n int) (int, error) { return n + 1, c.err }, 6)
		_, refused := c.err.(*refusal)
		if want := fmt.Sprint("near add: ", c.err, " ", refused); ends != want {
			t.Errorf("%v: the end is told as %q, want %q", c.err, ends, want)
		}
		failure, ok := errors.AsType[*commerce.ProviderError](err)
		if got != 7 || !errors.Is(err, c.err) || ok != c.typed || (len(reported) == 1) != c.reported || c.reported && reported[0] != failure ||
			ok && (failure.Provider != "near" || failure.Error() != c.err.Error()) {
			t.Errorf("%v: %d, %v, reported %v", c.err, got, err, reported)
		}
	}
}
