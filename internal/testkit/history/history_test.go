package history

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

var file = flag.String("file", "", "a history to check again")

// TestFile checks the history of a file again.
func TestFile(t *testing.T) {
	if *file == "" {
		t.Skip("-args -file PATH names a history")
	}
	part, err := Read(*file)
	if err != nil {
		t.Fatal(err)
	}
	if result := Check(part); result != porcupine.Ok {
		t.Errorf("%s: %s", *file, result)
	}
}

// at puts calls one after the other, each by itself. with makes them overlap.
func at(ops ...Op) []Op {
	for i := range ops {
		ops[i].Call, ops[i].Return = int64(10*i), int64(10*i+5)
	}
	return ops
}

func with(ops []Op, until int64) []Op {
	for i := range ops {
		ops[i].Return = max(ops[i].Return, until)
	}
	return ops
}

func answered(op Op, a Answer) Op {
	op.Answer = a
	return op
}

func look(n ...int64) Op { return Op{Do: "look", Answer: Answer{Status: 200, Have: n}} }

func seen(status string) Op { return Op{Do: "read", Answer: Answer{Status: 200, State: status}} }

func step(do, status string) Op { return Op{Do: do, Answer: Answer{Status: 200, State: status}} }

func again(op Op) Op {
	op.Replayed = true
	return op
}

var (
	sale   = Op{Do: "report", Key: "k", External: "e", Amounts: []int64{4}}
	sold   = answered(sale, Answer{Status: 201, State: "processed", Order: "o1", Body: "o1"})
	other  = answered(Op{Do: "report", Key: "l", External: "f", Amounts: []int64{4}}, Answer{Status: 201, State: "processed", Order: "o2", Body: "o2"})
	short  = answered(Op{Do: "report", Key: "m", External: "g", Amounts: []int64{4}}, Answer{Status: 409, Code: "insufficient_stock", Have: []int64{2}})
	more   = Op{Do: "adjust", Key: "k", Amounts: []int64{3}}
	added  = answered(more, Answer{Status: 200, Had: []int64{6}, Have: []int64{9}, Body: "6 9"})
	bought = answered(Op{Do: "checkout", Key: "k", Amounts: []int64{4}}, Answer{Status: 201, Order: "o1", Body: "o1"})
	ended  = answered(Op{Do: "cancel", Key: "c", Amounts: nil}, Answer{Status: 200, State: "cancelled", Restored: true, Body: "c"})
	paying = Op{Do: "pay"}
	back   = Op{Do: "refund"}
)

func TestHandMade(t *testing.T) {
	for _, tt := range []struct {
		name string
		part []Op
		want porcupine.CheckResult
	}{
		{"a sale", at(look(6), sold, look(2), short), porcupine.Ok},
		{"a sale that nobody knows of", at(sale, look(2), look(2)), porcupine.Ok},
		{"a sale that never was", at(sale, look(6), look(6)), porcupine.Ok},
		{"a sale that comes late", at(sale, look(6), look(2)), porcupine.Ok},
		{"and is undone", at(sale, look(2), look(6)), porcupine.Illegal},
		{"one piece too many is sold", at(sold, answered(other, Answer{Status: 201, State: "processed", Order: "o2"})), porcupine.Illegal},
		{"one of two at once is refused", with(at(sold, short), 20), porcupine.Ok},
		{"both of two at once are refused", with(at(answered(sold, short.Answer), short), 20), porcupine.Illegal},
		{"a refusal with enough in stock", at(look(6), answered(sale, Answer{Status: 409, Code: "insufficient_stock", Have: []int64{6}}), look(6)), porcupine.Illegal},
		{"an acknowledged sale is lost", at(sold, look(6)), porcupine.Illegal},
		{"a stale read", at(look(6), sold, look(2), look(6)), porcupine.Illegal},
		{"a read during the sale", with(at(sold, look(6), look(2)), 30), porcupine.Ok},
		{"an adjustment is lost under another", at(added, answered(Op{Do: "adjust", Key: "l", Amounts: []int64{1}}, Answer{Status: 200, Had: []int64{6}, Have: []int64{7}})), porcupine.Illegal},
		{"refused as unavailable, and done", at(answered(more, Answer{Status: 500, Code: "unavailable"}), look(9)), porcupine.Illegal},
		{"the outcome is unknown, and done", at(answered(more, Answer{Status: 500, Code: "outcome_unknown"}), look(9)), porcupine.Ok},

		{"a repeat", at(sold, again(sold), look(2)), porcupine.Ok},
		{"a repeat of what got no answer", at(sale, again(sold), look(2)), porcupine.Ok},
		{"a repeat has another effect", at(added, answered(more, Answer{Status: 200, Had: []int64{9}, Have: []int64{12}, Body: "9 12"})), porcupine.Illegal},
		{"a repeat without the effect of the first", at(more, added, look(12)), porcupine.Illegal},
		{"a repeat has another answer", at(sold, again(answered(sold, Answer{Status: 201, State: "processed", Order: "o3", Body: "o3"}))), porcupine.Illegal},
		{"a repeat is refused", at(sold, answered(sale, Answer{Status: 409, Code: "external_order_id_taken", Order: "o1"})), porcupine.Illegal},
		{"two repeats of what got no answer differ", at(sale, again(sold), again(answered(sold, Answer{Status: 201, State: "processed", Order: "o3", Body: "o3"}))), porcupine.Illegal},
		{"two of two at once are the first", with(at(added, added), 20), porcupine.Illegal},
		{"another body", at(added, answered(Op{Do: "adjust", Key: "k", Amounts: []int64{1}}, refused("idempotency_key_reused")), look(9)), porcupine.Ok},
		{"another body is taken", at(added, answered(Op{Do: "adjust", Key: "k", Amounts: []int64{1}}, Answer{Status: 200, Had: []int64{9}, Have: []int64{10}})), porcupine.Illegal},
		{"an external id twice", at(sold, answered(Op{Do: "report", Key: "l", External: "e", Amounts: []int64{1}}, Answer{Status: 201, State: "processed", Order: "o2"})), porcupine.Illegal},
		{"the wrong order has the external id", at(sold, answered(Op{Do: "report", Key: "l", External: "e", Amounts: []int64{1}}, Answer{Status: 409, Code: "external_order_id_taken", Order: "o9"})), porcupine.Illegal},

		{"a life", at(bought, seen("pending_payment"), paying, seen("pending_payment"), seen("paid"), look(6), step("confirm", "processed"), look(2),
			again(step("confirm", "processed")), step("ready", "ready_for_pickup"), again(step("confirm", "ready_for_pickup")), step("picked-up", "picked_up"), seen("picked_up")), porcupine.Ok},
		{"paid without a payment", at(bought, seen("paid")), porcupine.Illegal},
		{"a status goes back", at(bought, paying, seen("paid"), seen("pending_payment")), porcupine.Illegal},
		{"confirmed twice", at(bought, paying, step("confirm", "processed"), step("confirm", "processed")), porcupine.Illegal},
		{"confirmed without deducting", at(bought, paying, step("confirm", "processed"), look(6)), porcupine.Illegal},
		{"confirmed unpaid", at(bought, step("confirm", "processed")), porcupine.Illegal},
		{"cancelled", at(sold, look(2), ended, look(6), again(ended), seen("cancelled")), porcupine.Ok},
		{"cancelled, and nothing restored", at(sold, ended, look(2)), porcupine.Illegal},
		{"cancelled, and restored twice", at(sold, ended, again(ended), look(10)), porcupine.Illegal},
		{"cancelled and picked up", with(at(sold, step("ready", "ready_for_pickup"), step("picked-up", "picked_up"), ended), 40), porcupine.Illegal},
		{"paid late", at(bought, answered(ended, Answer{Status: 200, State: "cancelled"}), paying, back, seen("cancelled"), seen("refunded")), porcupine.Ok},
		{"revived by a late payment", at(bought, answered(ended, Answer{Status: 200, State: "cancelled"}), paying, back, seen("paid")), porcupine.Illegal},
		{"refunded though paid in time", at(bought, paying, back, seen("paid"), answered(ended, Answer{Status: 200, State: "cancelled"}), seen("refunded")), porcupine.Illegal},
		{"there is no order yet", at(answered(Op{Do: "read", External: "e"}, Answer{Status: 404, Code: "not_found"}), sold), porcupine.Ok},
		{"an order is gone", at(sold, answered(Op{Do: "read", External: "e"}, Answer{Status: 404, Code: "not_found"})), porcupine.Illegal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Check(tt.part); got != tt.want {
				t.Errorf("%s, want %s: %v", got, tt.want, tt.part)
			}
		})
	}
}

// A history that fails can be read by people and by Read.
func TestWrite(t *testing.T) {
	part := at(look(6), sold, again(sold), look(6))
	for i := range part {
		part[i].Of = "shelf 1"
	}
	path, err := Write(filepath.Join(t.TempDir(), "made"), "h", part, []Note{{At: 12, Text: "process 0 is killed"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no order of these calls", "-args -file " + path, "process 0 is killed", "#?    0.030 to     0.035 ms  client  0 at process 0: look -> 200 have [6]"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	read, err := Read(path)
	if err != nil || !slices.EqualFunc(read, part, func(a, b Op) bool { return a.String() == b.String() && a.Call == b.Call }) || Check(read) != porcupine.Illegal {
		t.Errorf("read again: %v, %v", read, err)
	}
	if _, err := os.Stat(strings.TrimSuffix(path, ".txt") + ".html"); err != nil {
		t.Error(err)
	}
}

func TestSplit(t *testing.T) {
	parts := Split([]Op{{Of: "b", Call: 2}, {Of: "a", Call: 3}, {Of: "b", Call: 1}})
	if len(parts) != 2 || len(parts[0]) != 1 || len(parts[1]) != 2 || parts[1][0].Call != 1 {
		t.Errorf("%v", parts)
	}
}
