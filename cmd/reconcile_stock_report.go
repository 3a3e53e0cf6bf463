package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paybook/ledger"
	"paybook/ledger/redisgate"
	"paybook/models"
	"paybook/reconcile"
)

// stockLine is one SKU in the report.
type stockLine struct {
	SKU            string `json:"sku"`
	Quantity       int64  `json:"quantity"`
	Available      int64  `json:"available"`
	Reserved       int64  `json:"reserved"`        // what the stock says
	OrdersReserved int64  `json:"orders_reserved"` // what the orders say, queued ones among them
	Queued         int64  `json:"queued"`
	Sold           int64  `json:"sold"`
	OrdersSold     int64  `json:"orders_sold"`
	Redis          *int64 `json:"redis"`  // null: no figure there
	Result         string `json:"result"` // equal, differs, moving
	Reason         string `json:"reason"` // one plain sentence; "" when equal
	Repair         string `json:"repair"` // what would be, or was, written; "" for nothing
	Repaired       bool   `json:"repaired"`

	check  ledger.StockCheck
	figure *redisgate.Figure // nil: Redis has no part in it
}

// stockReport is what is found, and what is done about it.
type stockReport struct {
	book  *ledger.Ledger
	flash *redisgate.Flash
	lines []*stockLine
	lease *ledger.Lease // while it repairs
}

// stockRepair is the lease under which the stock is repaired.
const stockRepair = "repair/stock"

// read compares everything. Lines with an error: the database's part was done, Redis's was not.
func (s *stockReport) read(ctx context.Context) error {
	checks, err := s.book.CheckStock(ctx)
	if err != nil {
		return err
	}
	s.lines = []*stockLine{}
	bySKU := map[string]*stockLine{}
	add := func(c ledger.StockCheck) *stockLine {
		l := &stockLine{SKU: c.SKU, check: c}
		s.lines, bySKU[c.SKU] = append(s.lines, l), l
		return l
	}
	for _, c := range checks {
		add(c)
	}
	if s.flash != nil {
		figures, redisErr := s.flash.CompareAll(ctx)
		if redisErr != nil {
			err = notCompared(redisErr)
		}
		for _, f := range figures {
			l := bySKU[f.SKU]
			if l == nil {
				l = add(ledger.StockCheck{SKU: f.SKU})
			}
			l.figure = &f
		}
	}
	for _, l := range s.lines {
		l.judge()
	}
	return err
}

// notCompared says what to do about it.
func notCompared(err error) error {
	switch {
	case redisgate.IsReply(err):
		return fmt.Errorf("redis answers with an error, so its figures were not compared: see to it that it may be written, or correct redis.url: %w", err)
	case redisgate.IsAway(err):
		return fmt.Errorf("redis does not answer, so its figures were not compared: start it, or correct redis.url: %w", err)
	}
	return fmt.Errorf("redis's figures were not compared: %w", err)
}

// judge words what was found.
func (l *stockLine) judge() {
	c := l.check
	l.Quantity, l.Available = c.Row.Quantity, c.Row.Available()
	l.Reserved, l.OrdersReserved, l.Queued, l.Sold, l.OrdersSold = c.Row.Reserved, c.Reserved, c.Queued, c.Row.Sold, c.Sold
	l.Result, l.Reason, l.Redis = "equal", "", nil
	var reasons []string
	switch {
	case !c.Known && !c.Equal():
		reasons = append(reasons, fmt.Sprintf("the orders hold %d units and have bought %d, and the stock does not know it: import it with app import stock", c.Reserved, c.Sold))
	case !c.Equal():
		reasons = append(reasons, fmt.Sprintf("the stock says %d reserved and %d sold, the orders %d and %d", c.Row.Reserved, c.Row.Sold, c.Reserved, c.Sold))
		if err := c.Beyond(); err != nil {
			reasons = append(reasons, "nothing can be repaired before: "+err.Error())
		}
	}
	if f := l.figure; f != nil {
		if f.Known {
			l.Redis = &f.Left
		}
		switch {
		case f.Unusable:
			reasons = append(reasons, "Redis's key for it holds something else than a figure")
		case f.Moving:
			l.Result, l.Reason = "moving", "orders are being taken all the while: Redis's figure was not compared"
		case !f.Equal():
			reasons = append(reasons, fmt.Sprintf("Redis says %d available, the database %d", f.Left, f.Available)+heldText(f))
		case f.Held > 0:
			l.Result, l.Reason = "moving", fmt.Sprintf("requests under way hold %d units, which is all that differs", f.Held)
		}
	}
	if len(reasons) > 0 {
		l.Result, l.Reason = "differs", strings.Join(reasons, "; ")
	}
}

// heldText is what requests have to do with a difference.
func heldText(f *redisgate.Figure) (text string) {
	if f.Lost > 0 {
		text = fmt.Sprintf(", and requests that never ended hold %d units", f.Lost)
	}
	if f.Held > 0 {
		text += fmt.Sprintf(", and requests under way hold %d units", f.Held)
	}
	return text
}

// result is the exit code.
func (s *stockReport) result() error {
	for _, l := range s.lines {
		if l.Result == "differs" && !l.Repaired {
			return errLook
		}
	}
	return nil
}

// repair says what would be written, or writes it: first the stock from the orders, then Redis from the stock.
func (s *stockReport) repair(ctx context.Context, apply bool) error {
	if !apply {
		return s.repairAll(ctx, false)
	}
	err := s.book.UnderLease(ctx, stockRepair, func(ctx context.Context, lease *ledger.Lease) error {
		s.lease = lease
		return s.repairAll(ctx, true)
	})
	if err = reconcile.AsBusy(err); errors.Is(err, reconcile.ErrBusy) {
		err = fmt.Errorf("repair of the stock: %w", err)
	}
	return err
}

// repairAll writes Redis's figures only when the rows are right: a figure of a wrong row would be wrong too.
func (s *stockReport) repairAll(ctx context.Context, apply bool) error {
	if !apply && slices.ContainsFunc(s.lines, (*stockLine).beyond) {
		return nil // the reason says why nothing would be written
	}
	err := s.repairRows(ctx, apply)
	if errors.As(err, new(*ledger.StockConflict)) {
		err = fmt.Errorf("nothing was repaired: %w", err)
	}
	if err != nil || s.flash == nil {
		return err
	}
	return s.repairRedis(ctx, apply)
}

func (s *stockReport) repairRows(ctx context.Context, apply bool) error {
	var spoilt []*stockLine
	var skus []string
	for _, l := range s.lines {
		if l.spoilt() {
			spoilt, skus = append(spoilt, l), append(skus, l.SKU)
		}
	}
	now := map[string]models.Stock{}
	if apply && len(skus) > 0 {
		var err error
		if now, err = s.book.RepairStock(ctx, s.lease, skus...); err != nil {
			return err
		}
	}
	for _, l := range spoilt {
		row, done := now[l.SKU]
		if !done {
			row.Reserved, row.Sold = l.check.Reserved, l.check.Sold
		}
		l.plan("stock: reserved %d → %d, sold %d → %d", l.check.Row.Reserved, row.Reserved, l.check.Row.Sold, row.Sold)
		l.Repaired = done
	}
	return nil
}

// spoilt is true when the stock's row is to be repaired.
func (l *stockLine) spoilt() bool { return l.check.Known && !l.check.Equal() }

func (l *stockLine) beyond() bool { return l.spoilt() && l.check.Beyond() != nil }

func (s *stockReport) repairRedis(ctx context.Context, apply bool) error {
	for _, l := range s.lines {
		if l.figure == nil || l.figure.Moving {
			continue
		}
		f, err := s.target(ctx, l, apply)
		if err != nil {
			return err
		}
		if f.Known && f.Equal() {
			continue
		}
		had := "nothing"
		if f.Known {
			had = strconv.FormatInt(f.Left, 10)
		} else if f.Unusable {
			had = "something else"
		}
		l.plan("redis: %s → %d", had, f.Want())
		if !apply {
			continue
		}
		done, err := s.flash.Repair(ctx, f)
		if err != nil {
			return err
		}
		l.Repaired = done // else an order was taken at this moment; the server does it itself
	}
	return nil
}

// target is Redis's figure beside the one that it is to be: what is available once the row is repaired.
func (s *stockReport) target(ctx context.Context, l *stockLine, apply bool) (redisgate.Figure, error) {
	if apply {
		return s.flash.Compare(ctx, l.SKU)
	}
	f := *l.figure
	if l.spoilt() {
		f.Available = l.check.Row.Quantity - l.check.Reserved - l.check.Sold
	}
	return f, nil
}

func (l *stockLine) plan(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if l.Repair != "" {
		text = l.Repair + "; " + text
	}
	l.Repair = text
}
