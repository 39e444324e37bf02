package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
	"purveyor/internal/testkit/port"
)

// TestExampleGo: the shop in Go is never wrong.
func TestExampleGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	file := filepath.Join(t.TempDir(), "shop")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir = "../../examples/go"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tryExample(t, file)
}

// TestExampleTypeScript: the shop in TypeScript is never wrong either.
func TestExampleTypeScript(t *testing.T) {
	t.Parallel()
	folder := compileTypeScript(t)
	check.OK(t, os.CopyFS(filepath.Join(folder, "src"), os.DirFS("../../examples/typescript/src")))
	for _, name := range []string{"../../examples/typescript/tsconfig.json", "../../examples/typescript/package.json", "testdata/node.d.ts"} {
		text, err := os.ReadFile(name)
		check.OK(t, err)
		to := filepath.Join(folder, filepath.Base(name))
		if filepath.Ext(name) == ".ts" {
			to = filepath.Join(folder, "src", filepath.Base(name))
		}
		check.OK(t, os.WriteFile(to, text, 0o600))
	}
	tsc(t, "-p", folder)
	tryExample(t, "node", filepath.Join(folder, "dist", "main.js"))
}

// TestExamplesAreSmall: a reader has read each in a quarter of an hour.
func TestExamplesAreSmall(t *testing.T) {
	for _, pattern := range []string{"../../examples/go/*.go", "../../examples/typescript/src/*.ts"} {
		files, err := filepath.Glob(pattern)
		check.OK(t, err)
		lines := 0
		for _, name := range files {
			text, err := os.ReadFile(name)
			check.OK(t, err)
			lines += bytes.Count(text, []byte("\n"))
		}
		if lines == 0 || lines > 400 {
			t.Errorf("%s has %d lines", pattern, lines)
		}
	}
}

// example is a shop that runs, and is killed now and then.
type example struct {
	t       *testing.T
	command []string
	env     []string
	address string
	process *exec.Cmd
	log     output
}

// tryExample has a shop sell while it is killed, and while answers are lost and refused between
// it and the service. In the end its books and those of the service are the same, and exact.
func tryExample(t *testing.T, command ...string) {
	w := newWorld(t, readTable(t).Catalog)
	address, err := port.Address()
	check.OK(t, err)
	e := &example{t: t, address: address, command: append(command, "--listen", address, "--data", filepath.Join(t.TempDir(), "journal"))}
	made := w.post("/v1/webhook-endpoints", "", mustJSON(map[string]any{"url": "http://" + e.address + "/hooks"}))
	e.env = append(os.Environ(), "PURVEYOR_URL="+w.proxy.URL(), "PURVEYOR_KEY="+w.key, "PURVEYOR_SECRET="+made["secret"].(string))
	t.Cleanup(func() {
		e.kill()
		if t.Failed() {
			t.Logf("the log of the shop ends:\n%s", e.log.tail())
		}
	})
	e.start()

	const orders = 28
	for i := range orders {
		if i%7 == 6 {
			e.wait("the orders before", func(b exampleBooks) bool { return len(b.Orders) == i && len(b.Tasks) == 0 })
		}
		// What comes between: nothing, an answer that is lost, a request that never arrives, one that arrives twice, a limit, a failure, and an
		// answer that the shop does not live to see.
		w.proxy.Script([]faultproxy.Step{{}, {Action: faultproxy.Lose}, {Action: faultproxy.Drop}, {Action: faultproxy.Twice},
			{Action: faultproxy.Answer, Status: 429, Header: map[string]string{"Retry-After": "0"}, Body: []byte(`{"ok":false,"code":"rate_limited"}`)},
			{Action: faultproxy.Answer, Status: 500, Body: []byte(`{"ok":false,"code":"unavailable"}`)}, {Action: faultproxy.Hold}}[i%7])
		number := fmt.Sprint("A-", i)
		for range 1 + i%2 { // the task, too, may be given twice
			e.give(map[string]any{"id": "report " + number, "do": "report", "order": number, "body": map[string]any{"external_order_id": number, "store_id": "s1",
				"fulfillment_type": "pickup", "items": []any{map[string]any{"product_id": "p1", "quantity": 2, "price": 100}}}})
		}
		if i%7 == 6 {
			check.Eventually(t, patience, 5*time.Millisecond, "the order", func() bool { return len(w.rows("SELECT id FROM orders WHERE external_id = '"+number+"'")) == 1 })
		}
		if i%7 == 6 || i%4 == 3 {
			e.kill()
			e.start()
		}
	}
	e.wait("every order to be accepted", func(b exampleBooks) bool {
		n := 0
		for _, o := range b.Orders {
			if o.Status == "processed" {
				n++
			}
		}
		return n == orders
	})

	checkout := func(number, product string, quantity int) exampleOrder {
		e.give(map[string]any{"id": "checkout " + number, "do": "checkout", "order": number, "body": map[string]any{"store_id": "s1", "fulfillment_type": "pickup",
			"items": []any{map[string]any{"product_id": product, "quantity": quantity}}, "success_url": "https://shop.example.com/thanks", "cancel_url": "https://shop.example.com/cart"}})
		return e.wait("a page to pay on", func(b exampleBooks) bool { return b.Orders[number].Pay != "" }).Orders[number]
	}
	paid, short := checkout("B-1", "p2", 1), checkout("B-2", "p4", 3)
	w.post("/v1/orders/report", "another", mustJSON(map[string]any{"external_order_id": "another", "store_id": "s1",
		"items": []any{map[string]any{"product_id": "p4", "quantity": 1, "price": 400}}})) // sold in another way
	e.kill() // what happens now is only in the feed, or is sent again
	w.pay(paid.Pay)
	w.pay(short.Pay)
	e.start()
	e.wait("one order to be confirmed, and one to be given back", func(b exampleBooks) bool {
		return b.Orders["B-1"].Status == "processed" && (b.Orders["B-2"].Status == "cancelled" || b.Orders["B-2"].Status == "refunded")
	})
	e.give(map[string]any{"id": "refund B-1", "do": "refund", "order": "B-1", "body": map[string]any{"amount_cents": 50}})
	e.give(map[string]any{"id": "sync", "do": "sync"})
	books := e.wait("all tasks to be done", func(b exampleBooks) bool {
		return len(b.Tasks) == 0 && b.Done["sync"].ID != "" && b.Done["refund B-1"].ID != ""
	})
	check.Eventually(t, patience, 20*time.Millisecond, "every event", func() bool {
		want := w.rows("SELECT id FROM webhook_events ORDER BY id")
		books = e.books()
		return slices.Equal(slices.Sorted(maps.Keys(books.Events)), want)
	})

	account := w.account()
	count := func(list []string, beginning string) (n int) {
		for _, row := range list {
			if strings.HasPrefix(row, beginning) {
				n++
			}
		}
		return n
	}
	if sold := count(account.Moves, "p1 -2 sold"); sold != orders || count(account.Orders, "A-") != orders {
		t.Errorf("%d orders, and %d sales, of %d", count(account.Orders, "A-"), sold, orders)
	}
	if count(account.Orders, "checkout processed 50") != 1 || count(account.Ledger, "capture") != 2 || count(account.Moves, "p2 -1 sold") != 1 || count(account.Moves, "p4 -3 sold") != 0 {
		t.Errorf("%+v", account)
	}
	if refused := books.Done["confirm B-2"].Refused; refused != "insufficient_stock" {
		t.Errorf("the confirmation of B-2: %q", refused)
	}
	for id, want := range map[string]int64{"p1": 1000 - 2*orders, "p2": 999, "p4": 2} {
		if got := books.Products[id].Available; got != want {
			t.Errorf("%d of %s, want %d", got, id, want)
		}
	}
	e.forged()

	e.certified(w)
}

// certified has the shop certified by the command line, as its README says.
func (e *example) certified(w *world) {
	folder := filepath.Join(e.t.TempDir(), "reports")
	run := exec.Command(program, "certify", "--url", w.base, "--key", w.key, "--webhook", "http://"+e.address+"/hooks",
		"--drive", "curl -sf -d @- http://"+e.address+"/tasks", "--report", folder)
	out, err := run.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("30 of 30 checks passed")) {
		e.t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"report.txt", "report.html", "report.json", "junit.xml"} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !bytes.Contains(text, []byte("feed_only")) && name != "report.txt" {
			e.t.Errorf("%s: %v", name, err)
		}
	}
}

// forged posts what no service has signed.
func (e *example) forged() {
	before := len(e.books().Events)
	response, err := http.Post("http://"+e.address+"/hooks", "application/json", strings.NewReader(`{"id":"evt_forged","event":"order.paid","order_id":"ord_1","timestamp":"2026-03-02T15:04:05.250Z","data":{}}`))
	check.OK(e.t, err)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusBadRequest || len(e.books().Events) != before {
		e.t.Errorf("a webhook that nothing signs is answered %d", response.StatusCode)
	}
}

type exampleOrder struct {
	Status, Pay string
}

type exampleBooks struct {
	Tasks    map[string]any
	Done     map[string]struct{ ID, Refused string }
	Orders   map[string]exampleOrder
	Events   map[string]any
	Products map[string]struct {
		Available int64 `json:"available_quantity"`
	}
}

func (e *example) start() {
	e.t.Helper()
	e.process = exec.Command(e.command[0], e.command[1:]...)
	e.process.Env, e.process.Stdout, e.process.Stderr = e.env, &e.log, &e.log
	check.OK(e.t, e.process.Start())
}

func (e *example) kill() {
	if e.process != nil {
		_ = e.process.Process.Signal(syscall.SIGKILL) // it may have ended
		_ = e.process.Wait()
		e.process = nil
	}
}

// give gives the shop a task until it takes it: it may be starting.
func (e *example) give(task map[string]any) {
	e.t.Helper()
	check.Eventually(e.t, patience, 20*time.Millisecond, "the shop to take a task", func() bool {
		response, err := http.Post("http://"+e.address+"/tasks", "application/json", bytes.NewReader(mustJSON(task)))
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode < 300
	})
}

func (e *example) books() (b exampleBooks) {
	response, err := http.Get("http://" + e.address + "/books")
	if err != nil {
		return b
	}
	defer response.Body.Close()
	_ = json.NewDecoder(response.Body).Decode(&b) // it is asked again
	return b
}

func (e *example) wait(what string, ok func(exampleBooks) bool) (b exampleBooks) {
	e.t.Helper()
	check.Eventually(e.t, patience, 20*time.Millisecond, what, func() bool {
		b = e.books()
		return ok(b)
	})
	return b
}

func mustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
