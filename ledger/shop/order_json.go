package shop

import (
	"time"

	"paybook/ledger"
	"paybook/models"
)

// OrderJSON is an order as the outside sees it. Amounts are major units with the currency's own number of decimals, times UTC.
type OrderJSON struct {
	OrderID  string             `json:"order_id"`
	Amount   string             `json:"amount"`
	Currency string             `json:"currency"`
	Status   models.OrderStatus `json:"status"`
	Version  int64              `json:"version"`
	Refunded string             `json:"refunded"`
	// ExpiresAt is when it is closed unless it is paid; nil: never.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// HistoryJSON is an order with all that moved it, oldest first.
type HistoryJSON struct {
	OrderJSON
	Stock        models.StockState `json:"stock,omitempty"` // what became of the items
	Items        []ItemJSON        `json:"items,omitempty"`
	Transactions []TransactionJSON `json:"transactions"`
	Transitions  []TransitionJSON  `json:"transitions"`
}

// ItemJSON is what an order takes from stock.
type ItemJSON struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

// TransactionJSON is one movement of an order's money.
type TransactionJSON struct {
	Account       string                   `json:"account"`
	Kind          models.TransactionKind   `json:"kind"`
	TransactionID string                   `json:"transaction_id"`
	Amount        string                   `json:"amount"`
	Currency      string                   `json:"currency"`
	Status        models.TransactionStatus `json:"status"`
	OccurredAt    time.Time                `json:"occurred_at"`
	Source        string                   `json:"source"`

	Outcome models.Outcome `json:"outcome"`
	Detail  string         `json:"detail,omitempty"` // why, when it does not fit its order
}

// TransitionJSON is one move of an order.
type TransitionJSON struct {
	From          models.OrderStatus `json:"from"`
	To            models.OrderStatus `json:"to"`
	Event         string             `json:"event"`
	TransactionID string             `json:"transaction_id"`
	At            time.Time          `json:"at"`
}

// ShowOrder words an order.
func ShowOrder(o models.Order) OrderJSON {
	shown := OrderJSON{
		OrderID: o.OrderID, Amount: o.Money().Text(), Currency: o.Currency, Status: o.Status, Version: o.Version,
		Refunded: models.Money{Minor: o.RefundedMinor, Currency: o.Currency}.Text(),
	}
	if o.ExpiresAt != nil {
		at := o.ExpiresAt.UTC()
		shown.ExpiresAt = &at
	}
	return shown
}

// ShowHistory words an order with all that moved it.
func ShowHistory(h ledger.OrderHistory) HistoryJSON {
	out := HistoryJSON{OrderJSON: ShowOrder(h.Order), Stock: h.Order.Stock, Transactions: []TransactionJSON{}, Transitions: []TransitionJSON{}}
	for _, i := range h.Items {
		out.Items = append(out.Items, ItemJSON{i.SKU, i.Quantity})
	}
	shown := map[[3]string]string{}
	for _, t := range h.Transactions {
		shown[[3]string{t.Account, string(t.Kind), t.TransactionID}] = t.ShownID()
		out.Transactions = append(out.Transactions, TransactionJSON{
			Account: t.Account, Kind: t.Kind, TransactionID: t.ShownID(), Amount: t.Money().Text(), Currency: t.Currency, Status: t.Status,
			OccurredAt: t.OccurredAt.UTC(), Source: t.Source, Outcome: t.Outcome, Detail: t.Detail,
		})
	}
	for _, m := range h.Transitions {
		id := m.TransactionID
		if known := shown[[3]string{m.Account, string(m.Kind), id}]; known != "" {
			id = known
		}
		out.Transitions = append(out.Transitions, TransitionJSON{From: m.From, To: m.To, Event: m.Event, TransactionID: id, At: m.At.UTC()})
	}
	return out
}
