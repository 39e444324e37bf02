package batchget

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// TestGathers: while two reads are under way, all others wait for one more.
func TestGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var mu sync.Mutex
		var reads [][]int
		l := New(func(_ context.Context, keys []int) (map[int]string, error) {
			mu.Lock()
			reads = append(reads, keys)
			mu.Unlock()
			<-release
			return map[int]string{1: "one", 2: "two", 3: "three"}, nil
		})
		var wg sync.WaitGroup
		ask := func(key int, want string) {
			wg.Go(func() {
				if got, known, err := l.Get(t.Context(), key); got != want || known != (want != "") || err != nil {
					t.Errorf("%d is %q, %v, %v; want %q", key, got, known, err, want)
				}
			})
			synctest.Wait()
		}
		ask(1, "one")
		ask(2, "two")
		for _, key := range []int{3, 1, 3, 9} {
			ask(key, map[int]string{1: "one", 3: "three"}[key])
		}
		close(release)
		wg.Wait()
		if len(reads) != 3 || !slices.Equal(reads[2], []int{3, 1, 9}) {
			t.Errorf("reads %v, want the last to be of 3, 1 and 9", reads)
		}
	})
}

// TestApart: lookups of one lane are answered while the reads of another lane hang. When all are
// answered, the loader keeps no lane.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := New(func(_ context.Context, keys []int) (map[int]int, error) {
			if slices.Contains(keys, 1) {
				<-release
			}
			return map[int]int{keys[0]: -keys[0]}, nil
		})
		l.Apart = func(key int) string { return []string{"even", "odd"}[key%2] }
		var wg sync.WaitGroup
		ask := func(key int) {
			if got, _, err := l.Get(t.Context(), key); got != -key || err != nil {
				t.Errorf("%d is %d, %v", key, got, err)
			}
		}
		for _, key := range []int{1, 1, 3} {
			wg.Go(func() { ask(key) })
			synctest.Wait()
		}
		ask(2)
		close(release)
		wg.Wait()
		synctest.Wait()
		if len(l.lanes) > 0 {
			t.Errorf("lanes %v are left", l.lanes)
		}
	})
}

func TestErrorsAndCallersThatGo(t *testing.T) {
	failure := errors.New("broken")
	release := make(chan struct{})
	l := New(func(context.Context, []int) (map[int]int, error) { <-release; return nil, failure })
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Get(gone, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v", err)
	}
	close(release)
	if _, _, err := l.Get(t.Context(), 2); !errors.Is(err, failure) {
		t.Errorf("a read that fails: %v", err)
	}
}

// TestLeavesTheReadAlone: a caller whose ctx ends while its value is being read touches
// nothing of what the read writes. The race detector sees it if it does.
func TestLeavesTheReadAlone(t *testing.T) {
	for range 100 {
		release := make(chan struct{})
		l := New(func(context.Context, []int) (map[int]string, error) { <-release; return map[int]string{1: "one"}, nil })
		ctx, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if got, _, err := l.Get(ctx, 1); got != "one" && (got != "" || !errors.Is(err, context.Canceled)) {
				t.Errorf("got %q, %v", got, err)
			}
		})
		wg.Go(leave)
		wg.Go(func() { close(release) })
		wg.Wait()
	}
}
