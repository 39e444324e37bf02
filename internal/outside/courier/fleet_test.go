package courier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/watch"
)

// fixed is a provider that gives the same answer to every call.
type fixed struct {
	Provider

	err   error
	asked []Key
}

func (f *fixed) Quote(context.Context, QuoteRequest) (Quote, error) { return Quote{ID: "q"}, f.err }

func (f *fixed) Create(context.Context, CreateRequest) (Delivery, error) {
	return Delivery{ID: "d"}, f.err
}

func (f *fixed) Get(_ context.Context, k Key) (Delivery, error) {
	f.asked = append(f.asked, k)
	return Delivery{ID: k.ID}, f.err
}

func (f *fixed) Cancel(context.Context, Key) (Delivery, error) { return Delivery{ID: "d"}, f.err }

func (f *fixed) ReadCallback(context.Context, http.Header, []byte) ([]Callback, error) {
	return nil, f.err
}

var (
	refuses = &Refusal{Code: OutOfZone, Message: "too far"}
	denies  = &commerce.CredentialsError{Message: "the key is revoked"}
	errDown = errors.New("no route")
)

// TestFleetQuote checks that the first offer counts, and that without one the most
// promising error is returned.
func TestFleetQuote(t *testing.T) {
	for _, c := range []struct {
		errs []error
		want error
	}{
		{nil, ErrNoProvider},
		{[]error{nil}, nil},
		{[]error{errDown, refuses, nil}, nil},
		{[]error{refuses, refuses}, refuses},
		{[]error{denies, refuses}, denies},
		{[]error{refuses, denies}, denies},
		{[]error{denies, errDown}, errDown},
		{[]error{errDown, denies, refuses}, errDown},
		{[]error{refuses, errDown}, errDown},
	} {
		f := Fleet{Providers: map[string]Provider{}, Modes: map[commerce.Mode][]string{}}
		for i, err := range c.errs {
			name := fmt.Sprint("p", i)
			f.Providers[name] = &fixed{err: err}
			f.Modes[commerce.Live] = append(f.Modes[commerce.Live], name)
		}
		q, err := f.Quote(t.Context(), commerce.Live, QuoteRequest{})
		if !errors.Is(err, c.want) || (err == nil) != (q.ID == "q") {
			t.Errorf("%v: %+v, %v", c.errs, q, err)
		}
		if c.want == errDown && errors.As(err, new(*commerce.CredentialsError)) {
			t.Errorf("%v: asking again may help, and the error says %v", c.errs, err)
		}
		if _, err := f.Quote(t.Context(), commerce.Test, QuoteRequest{}); !errors.Is(err, ErrNoProvider) {
			t.Errorf("another mode: %v", err)
		}
	}
}

func TestFleetGet(t *testing.T) {
	near := &fixed{}
	f := Fleet{Providers: map[string]Provider{"near": near}}
	d := commerce.Delivery{OrderID: "ord_1", Attempt: 2, Provider: "near", ProviderID: "d1", AskedOn: 7}
	key := Key{ID: "d1", Ref: d.Ref(), AskedOn: 7}
	if got, err := f.Get(t.Context(), d); err != nil || got.ID != "d1" || !slices.Equal(near.asked, []Key{key}) || KeyOf(d) != key {
		t.Errorf("%+v, %v, asked %+v", got, err, near.asked)
	}
	d.Provider = "gone"
	if _, err := f.Get(t.Context(), d); err == nil || !strings.Contains(err.Error(), `"gone" is not configured any more`) {
		t.Error(err)
	}
}

// TestFleetInOrder checks that the provider that may have the delivery comes first,
// and the one that gave it up comes last.
func TestFleetInOrder(t *testing.T) {
	f := Fleet{Providers: map[string]Provider{"a": nil, "b": nil, "c": nil, "off": nil}, Modes: map[commerce.Mode][]string{commerce.Live: {"a", "b", "c"}}}
	for want, d := range map[string]commerce.Delivery{
		"a b c":     {},
		"b a c":     {Provider: "b"},
		"b c a":     {Avoid: "a"},
		"c b a":     {Provider: "c", Avoid: "a"},
		"off a b c": {Provider: "off"}, // configured, but no longer asked for new deliveries
	} {
		if got := strings.Join(f.InOrder(commerce.Live, d), " "); got != want {
			t.Errorf("%+v: %s, want %s", d, got, want)
		}
	}
	if got := strings.Join(f.InOrder(commerce.Live, commerce.Delivery{Provider: "gone"}), " "); got != "a b c" {
		t.Errorf("a provider that is gone: %s", got)
	}
}

func TestStops(t *testing.T) {
	lat, lng := 30.25, -97.75
	store := commerce.Store{Name: "Main Street", Phone: "+15125550100", Address: "1 Main St", City: "Austin", State: "TX", ZipCode: "78701", Lat: &lat, Lng: &lng}
	want := Stop{Name: "Main Street", Phone: "+15125550100", Instructions: "ring",
		Address: commerce.Address{Line1: "1 Main St", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}}
	got := PickupAt(store, "ring")
	if got.At == nil || *got.At != (commerce.Point{Lat: lat, Lng: lng}) {
		t.Errorf("it is at %v", got.At)
	}
	got.At = nil
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	store.Lat, store.Lng = nil, nil
	if got := PickupAt(store, "ring"); got != want {
		t.Errorf("a store without a place: %+v", got)
	}
	to := &commerce.DeliveryAddress{Name: "Jo", Phone: "1", Address: commerce.Address{Line1: "2 Elm St"}}
	if got := DropoffAt(to, "knock"); got != (Stop{Name: "Jo", Phone: "1", Address: to.Address, Instructions: "knock"}) {
		t.Errorf("%+v", got)
	}
	if got := DropoffAt(nil, "knock"); got != (Stop{Instructions: "knock"}) {
		t.Errorf("no address: %+v", got)
	}
}

// TestWatch checks that every call is watched, that a refusal counts as an answer,
// and that callbacks are not watched.
func TestWatch(t *testing.T) {
	for name, call := range map[string]func(context.Context, Provider) error{
		"quote":  func(ctx context.Context, p Provider) error { _, err := p.Quote(ctx, QuoteRequest{}); return err },
		"create": func(ctx context.Context, p Provider) error { _, err := p.Create(ctx, CreateRequest{}); return err },
		"get":    func(ctx context.Context, p Provider) error { _, err := p.Get(ctx, Key{}); return err },
		"cancel": func(ctx context.Context, p Provider) error { _, err := p.Cancel(ctx, Key{}); return err },
	} {
		for want, fails := range map[string]error{"near: " + errDown.Error(): errDown, "": refuses} {
			reported := ""
			p := Watch("near", &fixed{err: fails}, watch.Watcher{Failed: func(f *commerce.ProviderError) { reported += f.Provider + ": " + f.Error() }})
			if err := call(t.Context(), p); !errors.Is(err, fails) || reported != want {
				t.Errorf("%s: %v, reported %q, want %q", name, err, reported, want)
			}
			if _, err := p.ReadCallback(t.Context(), nil, nil); err != fails || reported != want {
				t.Errorf("a callback: %v, reported %q", err, reported)
			}
		}
	}
}
