package ledger

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"paybook/models"
)

var update = flag.Bool("update", false, "rewrite the diagram in the READMEs from the state table")

var (
	allStates = []models.OrderStatus{models.Unpaid, models.Paying, models.Paid, models.Shipped, models.PartRefunded, models.Refunded,
		models.Closed, models.Disputed, models.ChargedBack}
	allMoving = []models.EventKind{models.PaymentPending, models.PaymentAuthorised, models.PaymentSucceeded, models.PaymentCaptured,
		models.PaymentFailed, models.PaymentClosed, models.PaymentVoided, models.RefundPending, models.RefundAbnormal, models.RefundSucceeded,
		models.RefundFailed, models.RefundClosed, models.RefundTotal, models.DisputeOpened, models.DisputeWon, models.DisputeLost,
		models.OrderPay, models.OrderShip, models.OrderCancel, models.OrderExpire}
	allConditions = []condition{always, whole, part, nothing, attemptOver, otherOpen, otherLost, noOther, notShipped}
)

// Every state × event × condition has at most one answer, and what must never happen does not stand in the table.
func TestEveryStateAndEvent(t *testing.T) {
	pays := func(k models.EventKind) bool { return k == models.PaymentSucceeded || k == models.PaymentCaptured }
	for _, from := range allStates {
		for _, on := range allMoving {
			for _, c := range allConditions {
				var hits []models.OrderStatus
				for _, tr := range transitions {
					if tr.From == from && tr.On == tableEvent(on) && (tr.When == always || tr.When == c) {
						hits = append(hits, tr.To)
					}
				}
				if len(hits) > 1 {
					t.Errorf("%s on %s when %q: %v", from, on, c, hits)
				}
				to, ok := moves(from, tableEvent(on), func(have condition) bool { return have == c })
				if ok != (len(hits) == 1) || ok && to != hits[0] {
					t.Errorf("%s on %s when %q: moves says %s %v, the rows %v", from, on, c, to, ok, hits)
				}
				if ok && to == models.Paid && pays(on) && from != models.Unpaid && from != models.Paying && c != attemptOver {
					t.Errorf("%s becomes paid by %s", from, on)
				}
				if ok && to == models.Paid && !pays(on) && tableEvent(on) != models.RefundFailed {
					t.Errorf("%s becomes paid by %s, which is no payment", from, on)
				}
				if ok && to == models.Closed && from != models.Unpaid && from != models.Paying {
					t.Errorf("%s becomes closed by %s", from, on)
				}
				if ok && (from == models.Unpaid || from == models.Paying) && to != models.Paid && to != models.Closed && (to != models.Paying || on != models.OrderPay) {
					t.Errorf("%s becomes %s without a payment", from, to)
				}
			}
		}
	}
}

// Every state but the first can be reached, and every row names known states and events.
func TestTableIsConnected(t *testing.T) {
	known := map[models.OrderStatus]bool{back: true}
	for _, s := range allStates {
		known[s] = true
	}
	events := map[models.EventKind]bool{}
	for _, e := range allMoving {
		events[e] = true
	}
	reached := map[models.OrderStatus]bool{models.Unpaid: true}
	for _, tr := range transitions {
		if !known[tr.From] || !known[tr.To] || !events[tr.On] || tableEvent(tr.On) != tr.On {
			t.Errorf("row %v", tr)
		}
		reached[tr.To] = true
	}
	for _, s := range allStates {
		if !reached[s] {
			t.Errorf("%s is never reached", s)
		}
	}
}

const (
	diagramBegin = "<!-- state diagram: written by `go test ./ledger -run Diagram -update` -->\n"
	diagramEnd   = "<!-- end of the state diagram -->\n"
)

// The diagram in both READMEs is printed from the table.
func TestDiagramInReadme(t *testing.T) {
	for _, file := range []string{"../README.md", "../README.zh-CN.md"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(raw), diagramBegin)
		_, tail, ok2 := strings.Cut(rest, diagramEnd)
		if !ok || !ok2 {
			t.Fatalf("%s has no place for the diagram", file)
		}
		want := head + diagramBegin + diagram() + diagramEnd + tail
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want != string(raw) {
			t.Errorf("the diagram in %s is not that of the state table; run go test ./ledger -run Diagram -update", file)
		}
	}
}

func diagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    direction LR\n    [*] --> unpaid\n")
	labels := map[[2]models.OrderStatus][]string{}
	var order [][2]models.OrderStatus
	for _, tr := range transitions {
		to := tr.To
		if to == back {
			to = "before_dispute"
		}
		k := [2]models.OrderStatus{tr.From, to}
		if labels[k] == nil {
			order = append(order, k)
		}
		label := string(tr.On)
		if tr.When != always {
			label += " (" + string(tr.When) + ")"
		}
		labels[k] = append(labels[k], label)
	}
	for _, k := range order {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", k[0], k[1], strings.Join(labels[k], ", "))
	}
	b.WriteString("    before_dispute: where it was before the dispute\n```\n")
	return b.String()
}
