package commerce

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

//go:generate go test . -run ^TestLifecycleDocument$ -update

var update = flag.Bool("update", false, "write docs/lifecycle.md anew")

func TestLifecycleDocument(t *testing.T) {
	const path = "../../docs/lifecycle.md"
	want := lifecycleDocument()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the table says; run go generate ./internal/commerce", path)
	}
}

func lifecycleDocument() string {
	var b strings.Builder
	b.WriteString("# The life of an order\n\nGenerated from `internal/commerce/lifecycle.go` by `go generate ./internal/commerce`; do not edit.\n\n")
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, t := range Lifecycle {
		from := t.From
		if len(from) == 0 {
			from = []OrderStatus{"[*]"}
		}
		for _, f := range from {
			to := t.To
			if to == "" {
				continue // the order itself says which: see the table
			}
			fmt.Fprintf(&b, "    %s --> %s: %s\n", f, to, t.Trigger)
		}
	}
	for _, s := range Statuses {
		if s.Terminal() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	b.WriteString("```\n\n| trigger | by | from | to | only if | stock | timeline | webhook | jobs |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, t := range Lifecycle {
		from := "(none)"
		if len(t.From) > 0 {
			from = strings.ReplaceAll(joined(t.From, "or"), " or ", ", ")
		}
		to := string(t.To)
		switch t.Trigger {
		case DeclineRefund:
			to = "the status it came from, moved on by the courier since"
		case RefundCameBack:
			to = "the status it came from; cancelled if the refund had stopped the fulfilment"
		}
		conditions := []string{}
		if t.Only != "" {
			conditions = append(conditions, string(t.Only)+" order")
		}
		if t.If != NoCondition {
			conditions = append(conditions, string(t.If))
		}
		if t.Stock == ChecksStock || t.Stock == SellsStock || t.Stock == DeductsStock {
			conditions = append(conditions, "stock sufficient")
		}
		jobs := make([]string, len(t.Jobs))
		for i, j := range t.Jobs {
			jobs[i] = string(j)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			t.Trigger, joined(t.By, "or"), from, to, strings.Join(conditions, "; "), t.Stock, t.Timeline, t.Webhook, strings.Join(jobs, ", "))
	}
	terminal := []OrderStatus{}
	for _, s := range Statuses {
		if s.Terminal() {
			terminal = append(terminal, s)
		}
	}
	fmt.Fprintf(&b, "\nTerminal: %s. Only a refund leaves a terminal status, or one that comes back.\n", joined(terminal, "or"))
	return b.String()
}

// TestLifecycleTable holds the table against the prose of SPEC.md.
func TestLifecycleTable(t *testing.T) {
	terminal := []OrderStatus{Delivered, PickedUp, Cancelled, Refunded}
	for _, s := range Statuses {
		if s.Terminal() != slices.Contains(terminal, s) {
			t.Errorf("%s: Terminal() = %v", s, s.Terminal())
		}
		if cancels := slices.Contains(TransitionOf(Cancel).From, s); cancels == s.Terminal() {
			t.Errorf("%s: cancel possible = %v, terminal = %v", s, cancels, s.Terminal())
		}
	}
	seen := map[Trigger]bool{}
	for _, row := range Lifecycle {
		if seen[row.Trigger] {
			t.Errorf("trigger %s stands twice", row.Trigger)
		}
		seen[row.Trigger] = true
		if row.To == "" && row.Trigger != DeclineRefund && row.Trigger != RefundCameBack {
			t.Errorf("%s leads nowhere", row.Trigger)
		}
		for _, s := range append(slices.Clone(row.From), row.To) {
			if s != "" && !slices.Contains(Statuses, s) {
				t.Errorf("%s names the unknown status %s", row.Trigger, s)
			}
		}
		if row.Timeline == "" {
			t.Errorf("%s leaves no trace in the timeline", row.Trigger)
		}
	}
}

func TestCheckTransition(t *testing.T) {
	// trigger -> fulfillment -> the statuses from which it is possible
	possible := map[Trigger]map[Fulfillment][]OrderStatus{
		Confirm:          {ByPickup: {Paid}, ByDelivery: {Paid}},
		CourierCreated:   {ByDelivery: {Processed}},
		CourierPickedUp:  {ByDelivery: {Shipped}},
		CourierDelivered: {ByDelivery: {Shipped, OutForDelivery}},
		MarkReady:        {ByPickup: {Processed}},
		MarkPickedUp:     {ByPickup: {ReadyForPickup}},
	}
	for trigger, by := range possible {
		for _, f := range []Fulfillment{ByPickup, ByDelivery} {
			for _, s := range Statuses {
				_, err := Order{Status: s, Fulfillment: f}.Check(trigger)
				want := slices.Contains(by[f], s)
				if (err == nil) != want {
					t.Errorf("%s of a %s order in %s: %v, want possible = %v", trigger, f, s, err, want)
				}
				var refusal *Error
				if err != nil && (!errors.As(err, &refusal) || refusal.Kind != KindConflict) {
					t.Errorf("%s: %v is not a conflict", trigger, err)
				}
			}
		}
	}
}
