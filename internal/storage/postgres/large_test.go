package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/storagetest"

	"github.com/jackc/pgx/v5"
)

// A batch with more rows than a statement may have is split into several statements.
func TestLargeBatch(t *testing.T) {
	rows, values := statementRows, partValues
	statementRows, partValues = 3, 20
	defer func() { statementRows, partValues = rows, values }()
	e := address(database(t)).Open(t, time.Now).(*Engine)
	var keys []commerce.ProductKey
	for i := range 10 {
		keys = append(keys, commerce.ProductKey{StoreID: fmt.Sprintf("sto_%d", i%2), ProductID: fmt.Sprintf("prd_%d", i*7%10)})
	}
	needs := commerce.Needs{Stock: keys}
	change := func(quantity func(i int) int64) {
		storagetest.Change(t, e, needs, func(rows *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
			for i, k := range keys {
				s, _ := rows.Stock.Get(k)
				s.StoreID, s.ProductID, s.Name, s.Active, s.Quantity, s.UpdatedOn = k.StoreID, k.ProductID, "Product", true, quantity(i), now
				c.Stock = append(c.Stock, s)
			}
			return c
		})
	}
	change(func(i int) int64 { return int64(i) })       // inserts
	change(func(i int) int64 { return int64(100 + i) }) // updates
	b, err := e.Load(context.Background(), needs)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	for i, k := range keys {
		if s, ok := b.Rows().Stock.Get(k); !ok || s.Quantity != int64(100+i) {
			t.Errorf("%v: %+v", k, s)
		}
	}
}

// A large request is sent in parts, in its order; another one at once.
func TestPartsOfRequest(t *testing.T) {
	was := partValues
	partValues = 6
	defer func() { partValues = was }()
	three := &array{values: make(values, 6), step: 2} // with its own, 4 values
	for _, large := range []int{0, 1} {
		q := request{large: large}
		q.Queue("a", 1)
		q.Queue("b", three, three)
		q.Queue("c", 1, 2)
		q.Queue("d", three)
		q.Queue("COMMIT")
		var got []string
		for part := range q.parts() {
			text := ""
			for _, statement := range part {
				text += statement.SQL
			}
			got = append(got, text)
		}
		want := []string{"abcdCOMMIT"}
		if large > 0 {
			want = []string{"ab", "cd", "COMMIT"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d large statements: %q, want %q", large, got, want)
		}
	}
}

// While the rows of a batch are decided on, its process keeps the server from ending the
// transaction as a forgotten one. Once the batch is saved, its connection is left alone.
func TestLongDecision(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	e := address(url).Open(t, time.Now).(*Engine)
	keys := seedStock(t, e, "sto_1")
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	opened, err := e.Load(ctx, commerce.Needs{Stock: keys})
	if err != nil {
		t.Fatal(err)
	}
	b := opened.(*batch)
	pid := b.writer.conn.PgConn().PID()
	state := func() (state string, since time.Time) {
		if err := conn.QueryRow(ctx, "SELECT state, state_change FROM pg_stat_activity WHERE pid = $1", int64(pid)).Scan(&state, &since); err != nil {
			t.Fatal(err)
		}
		return state, since
	}
	_, before := state()
	b.awake()
	if s, since := state(); s != "idle in transaction" || !since.After(before) {
		t.Errorf("the server waits since %v, in the state %s; it began to at %v", since, s, before)
	}
	if err := b.Save(ctx); err != nil {
		t.Fatal(err)
	}
	_, before = state()
	b.awake()
	if s, since := state(); s != "idle" || since != before {
		t.Errorf("the connection of a saved batch is used: %s since %v, before %v", s, since, before)
	}
}
