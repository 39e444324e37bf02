package command

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// faultsOf are the rows with the faults of a partner, as commands see them.
func faultsOf(list ...commerce.Fault) *commerce.Rows {
	var rows commerce.Rows
	rows.Faults.Require([]string{"ptn_1"}, true)
	rows.Faults.Fill(0, commerce.Faults{PartnerID: "ptn_1", List: list})
	return &rows
}

func TestFaultsHitTheirCallsAndNoOthers(t *testing.T) {
	const now = commerce.Millis(1_000)
	until := now.Add(time.Hour)
	slow := commerce.Fault{ID: "slow", Kind: commerce.FaultSlow, Operation: "getOrder", Left: 1, ExpiresOn: until}
	lost := commerce.Fault{ID: "lost", Kind: commerce.FaultLostAnswer, Left: 2, ExpiresOn: until}
	stock := commerce.Fault{ID: "stock", Kind: commerce.FaultStock, Left: 1, ExpiresOn: until}
	spent := commerce.Fault{ID: "spent", Kind: commerce.FaultError, Left: 0, ExpiresOn: until}
	ended := commerce.Fault{ID: "ended", Kind: commerce.FaultError, Left: 1, ExpiresOn: now}
	for _, c := range []struct {
		list      []commerce.Fault
		operation string
		want      string
		left      int64 // of the fault that hits
	}{
		{nil, "getOrder", "", 0},
		{[]commerce.Fault{slow}, "getOrder", "slow", 0},
		{[]commerce.Fault{slow}, "listOrders", "", 0},
		{[]commerce.Fault{spent, ended, lost, slow}, "getOrder", "lost", 1},
		{[]commerce.Fault{spent, ended}, "getOrder", "", 0},
		{[]commerce.Fault{stock}, "getOrder", "", 0},
		{[]commerce.Fault{stock}, "reportOrder", "stock", 0},
	} {
		f, changes, err := TakeFault{"ptn_1", c.operation}.Decide(faultsOf(c.list...), now)
		if err != nil || f.ID != c.want || (len(changes.Faults) == 1) != (c.want != "") {
			t.Errorf("%v, %s: %q %v %v", c.list, c.operation, f.ID, changes.Faults, err)
		}
		for _, row := range changes.Faults {
			for _, after := range row.List {
				if after.ID == c.want && after.Left != c.left {
					t.Errorf("%s is left %d times", c.want, after.Left)
				}
			}
		}
	}
}

func TestThereAreFewFaults(t *testing.T) {
	const now = commerce.Millis(1_000)
	var list []commerce.Fault
	for i := range commerce.MaxFaults {
		f, changes, err := MakeFault{"ptn_1", commerce.Fault{ID: fmt.Sprint(i), Kind: commerce.FaultError, Calls: 3}}.Decide(faultsOf(list...), now)
		if err != nil || f.Left != 3 || f.ExpiresOn != now.Add(time.Hour) {
			t.Fatal(f, err)
		}
		list = changes.Faults[0].List
	}
	more := MakeFault{"ptn_1", commerce.Fault{ID: "more", Kind: commerce.FaultError, Calls: 1}}
	_, changes, err := more.Decide(faultsOf(list...), now)
	if e, ok := errors.AsType[*commerce.Error](err); !ok || e.Code != "limit_reached" || len(changes.Faults) != 0 {
		t.Error("one too many:", err)
	}
	if _, changes, err = more.Decide(faultsOf(list...), now.Add(time.Hour)); err != nil || len(changes.Faults[0].List) != 1 {
		t.Error("an hour later:", changes.Faults, err)
	}
	n, changes, err := ClearFaults{"ptn_1"}.Decide(faultsOf(list...), now)
	if row := changes.Faults[0]; n != commerce.MaxFaults || err != nil || len(row.List) != 0 || row.PartnerID != "ptn_1" || row.UpdatedOn != now {
		t.Error("cleared", n, changes.Faults, err)
	}
	if n, changes, err := (ClearFaults{"ptn_1"}).Decide(faultsOf(), now); n != 0 || err != nil || !changes.Empty() {
		t.Error("nothing to clear", n, changes.Faults, err)
	}
}
