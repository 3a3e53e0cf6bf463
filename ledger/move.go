package ledger

import (
	"database/sql"
	"encoding/json"

	"github.com/google/uuid"

	"paybook/models"
)

// never is for rows of the state table without a condition.
func never(condition) bool { return false }

// move takes an order one step through the state table; false when the table has no row for it.
func (e *engine) move(o *orderWork, by *row, on models.EventKind, source string, when func(condition) bool) bool {
	to, ok := moves(o.Status, tableEvent(on), when)
	if !ok {
		return false
	}
	switch {
	case to == back:
		to = o.PriorStatus
		if to == "" {
			to = o.unship(models.Paid)
		}
		o.PriorStatus = ""
	case to == models.Disputed || to == models.ChargedBack:
		if o.Status != models.Disputed && o.Status != models.ChargedBack {
			o.PriorStatus = o.Status
		}
	}
	e.step(o, by, to, on, source)
	return true
}

// step is the move itself: the version grows, a transition is written, the shop is told.
func (e *engine) step(o *orderWork, by *row, to models.OrderStatus, on models.EventKind, source string) {
	from := o.Status
	o.Status, o.Version = to, o.Version+1
	o.Shipped = o.Shipped || on == models.OrderShip
	o.Stock = stockAfter(o.Stock, to)
	e.transitions = append(e.transitions, models.Transition{OrderID: o.OrderID, Version: o.Version, From: from, To: to,
		Event: string(on), Account: by.Account, Kind: by.Kind, TransactionID: by.TransactionID, At: e.now})
	if source == sourceImport {
		return // the shop's own history is no news to it
	}
	e.enqueue(o.OrderID, "order."+string(to), notice{OrderID: o.OrderID, Status: string(to), From: string(from), Version: o.Version,
		Amount: o.Money().Text(), Currency: o.Currency, Refunded: models.Money{Minor: o.RefundedMinor, Currency: o.Currency}.Text(),
		Event: string(on), Movement: movementOf(by)})
}

// tell informs a shop that keeps its orders elsewhere: it gets every movement, and judges for itself.
func (e *engine) tell(r *row, on models.EventKind, source string) {
	if source != sourceImport {
		e.enqueue(r.OrderID, string(on), notice{OrderID: r.OrderID, Event: string(on), Movement: movementOf(r)})
	}
}

// notice is the payload of a message to the shop. Amounts are decimal text in major units.
type notice struct {
	OrderID  string    `json:"order_id"`
	Status   string    `json:"status,omitempty"`
	From     string    `json:"from,omitempty"`
	Version  int64     `json:"version,omitempty"`
	Amount   string    `json:"amount,omitempty"`
	Currency string    `json:"currency,omitempty"`
	Refunded string    `json:"refunded,omitempty"`
	Event    string    `json:"event"`
	Movement *movement `json:"transaction,omitempty"` // what moved the order; nil for the shop's own acts
}

type movement struct {
	Account       string `json:"account"`
	Kind          string `json:"kind"`
	TransactionID string `json:"transaction_id"`
	ParentID      string `json:"parent_id,omitempty"` // refunds and disputes: the payment
	Amount        string `json:"amount"`
	Currency      string `json:"currency"`
	Status        string `json:"status"`
	OccurredAt    string `json:"occurred_at"`
}

func movementOf(r *row) *movement {
	if r.Kind == "" {
		return nil
	}
	return &movement{r.Account, string(r.Kind), r.ShownID(), r.ParentID, r.Money().Text(), r.Currency, string(r.Status), r.OccurredAt.UTC().Format("2006-01-02T15:04:05Z07:00")}
}

func (e *engine) enqueue(orderID, topic string, n notice) {
	payload, err := json.Marshal(n)
	if err != nil {
		panic(err) // a struct of strings always encodes
	}
	e.messages = append(e.messages, models.Message{OrderID: orderID, ID: uuid.Must(uuid.NewV7()).String(), Topic: topic,
		Payload: string(payload), CreatedAt: e.now})
}

// closedByProvider says whether an order was closed because a payment attempt ended, not by the shop: then other money may still
// come for it. Asked only for a closed order that money arrives for.
func (e *engine) closedByProvider(o *orderWork) bool {
	for _, t := range e.transitions {
		if t.OrderID == o.OrderID && t.Version == o.Version && t.Event != string(models.RepairReversed) {
			return t.Event == string(models.PaymentClosed)
		}
	}
	if o.Status != models.Closed {
		return false
	}
	// What a reversed repair returned the order to is closed by whoever closed it before.
	b := e.l.sql(`SELECT event FROM transitions WHERE order_id = `).arg(o.OrderID).add(` AND "to" = 'closed' AND event <> 'repair.reversed' ORDER BY version DESC LIMIT 1`)
	var event string
	if err := query(e.tx, b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&event) }); err != nil {
		e.failed = err // nothing of this transaction will be written
	}
	return event == string(models.PaymentClosed)
}
