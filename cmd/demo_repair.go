package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

// closingRepair is the payment whose callback was lost: the statement has it, and its order waits.
type closingRepair struct {
	Account       string   `json:"account"`
	TransactionID string   `json:"transaction_id"`
	OrderID       string   `json:"order_id"`
	Amount        string   `json:"amount"`
	Currency      string   `json:"currency"`
	Messages      []string `json:"messages"` // the topics of what the shop is told
}

// repair books a payment whose callback was lost: one person plans it, another applies it.
func (d *demo) repair(ctx context.Context, want closingRepair) ([]scene, error) {
	account, err := d.conf.account(want.Account)
	if err != nil {
		return nil, err
	}
	x := &act{demo: d, account: account}
	var expected expectedRun
	if has, err := x.readKit("expected_reconciliation.json", &expected); !has {
		return nil, errors.Join(err, fmt.Errorf("%s expects no run that could be repaired", want.Account))
	}
	source, day, err := x.statement(expected)
	if err != nil {
		return nil, err
	}
	run := func(who string, apply bool) (*reconcile.Report, error) {
		return reconcile.RunRepair(ctx, d.book, account.reconciled(), source, day, reconcile.Options{Now: d.a.now},
			reconcile.Repair{Apply: apply, Who: who, Approvals: 2})
	}
	plan, err := run("alice", false)
	if err != nil {
		return nil, err
	}
	alone, err := run("alice", true)
	if err != nil {
		return nil, err
	}
	applied, err := run("bob", true)
	if err != nil {
		return nil, err
	}
	orders, err := d.book.Orders(ctx, []string{want.OrderID})
	if err != nil {
		return nil, err
	}
	return []scene{want.planned(plan), secondPerson(alone), want.applied(plan, applied, orders[want.OrderID].Status)}, nil
}

// planned is one item, and what it would come to.
func (r closingRepair) planned(plan *reconcile.Report) scene {
	s := scene{what: "alice plans a repair"}
	i := slices.IndexFunc(plan.Repair.Items, r.is)
	if i < 0 {
		s.came = fmt.Sprintf("payment %s is not in the plan", r.TransactionID)
		return s
	}
	item := plan.Repair.Items[i]
	s.came = fmt.Sprintf("%s %s for %s, message %s", item.Amount, item.Currency, item.OrderID, strings.Join(item.Messages, ", "))
	s.ok = plan.Repair.Count(models.ItemPlanned) == 1 && item.State == models.ItemPlanned && item.Amount == r.Amount && item.Currency == r.Currency &&
		item.OrderID == r.OrderID && slices.Equal(item.Messages, r.Messages)
	return s
}

func (r closingRepair) is(i reconcile.RepairItemReport) bool {
	return i.Kind == models.Payment && i.TransactionID == r.TransactionID
}

func secondPerson(alone *reconcile.Report) scene {
	s := scene{what: "alice applies it herself", came: "nobody stops her"}
	if s.ok = errors.Is(alone.RepairErr, ledger.ErrSecondPerson); s.ok {
		s.came = "refused: " + ledger.ErrSecondPerson.Error()
	}
	return s
}

// applied: the payment is in the book, its order is paid, and its gap is the one that is gone.
func (r closingRepair) applied(before, after *reconcile.Report, order models.OrderStatus) scene {
	booked := 0
	for _, i := range after.Repair.Items {
		if r.is(i) && i.State == models.ItemBooked {
			booked++
		}
	}
	gone := !slices.ContainsFunc(after.Gaps, func(g reconcile.GapReport) bool { return g.TransactionID == r.TransactionID })
	return scene{
		what: "bob applies it",
		came: fmt.Sprintf("%s is %s, %s where there were %d", r.OrderID, order, count(len(after.Gaps), "gap"), len(before.Gaps)),
		ok:   booked == 1 && after.Repair.Count(models.ItemBooked) == 1 && order == models.Paid && gone && len(after.Gaps) == len(before.Gaps)-1,
	}
}
