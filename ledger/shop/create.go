package shop

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/ledger"
	"paybook/models"
)

// Bounds of one order.
const (
	itemsMax    = 200
	quantityMax = 1_000_000
)

// asked is what POST /orders asks for, in one spelling: two requests with the same are the same.
type asked struct {
	Route     string        `json:"route"`
	OrderID   string        `json:"order_id"`
	Minor     int64         `json:"minor"`
	Currency  string        `json:"currency"`
	Items     []models.Item `json:"items"` // by SKU
	ExpiresAt *time.Time    `json:"expires_at"`
}

// createOrder is POST /orders.
func (s *Server) createOrder(ctx context.Context, r request) error {
	token, err := keyOf(r.Request().Header)
	if err != nil {
		return err
	}
	a, err := readOrder(r.body)
	if err != nil {
		return err
	}
	o := s.newOrder(a)
	say := func(status int) Say {
		return saying(r, func(made models.Order) (int, any) {
			made.ExpiresAt = o.Order.ExpiresAt
			return status, ShowOrder(made)
		})
	}
	answer, err := s.create(ctx, ledger.Key{Owner: r.owner, Token: token, Fingerprint: fingerprint(a)}, o, say)
	if err != nil {
		return err
	}
	if answer.Status < http.StatusMultipleChoices {
		r.Response().Header().Set(echo.HeaderLocation, orderPath(a.OrderID))
	}
	return s.send(r, answer)
}

// create takes one of three ways into the book: the fast one, once under a key, or as it comes.
func (s *Server) create(ctx context.Context, k ledger.Key, o ledger.NewOrder, say func(status int) Say) (ledger.Answer, error) {
	if !o.Order.ExpiresAt.After(s.Now()) {
		return s.tooLate(ctx, k, *o.Order.ExpiresAt)
	}
	if s.Fast != nil {
		answer, taken, err := s.Fast.Take(ctx, k, o, say(http.StatusAccepted))
		if taken || err != nil {
			return answer, err
		}
	}
	if k.Token != "" {
		return s.Book.CreateOrderOnce(ctx, k, o, say(http.StatusCreated))
	}
	return answered(say(http.StatusCreated))(s.Book.CreateOrder(ctx, o))
}

// tooLate refuses an order that could not be paid any more, but for a repeat of one that was made in time: it gets its answer.
func (s *Server) tooLate(ctx context.Context, k ledger.Key, at time.Time) (ledger.Answer, error) {
	if k.Token != "" {
		answer, ok, err := s.Book.Answered(ctx, k)
		if ok || err != nil {
			return answer, err
		}
	}
	return ledger.Answer{}, invalid("expires_at", "%s is over: nobody could pay this order; take a later time, or leave it out", at.Format(time.RFC3339))
}

// saying words a success as JSON and a refusal as a problem.
func saying(r request, success func(models.Order) (int, any)) Say {
	return func(o models.Order, err error) (int, []byte) {
		if err != nil {
			p := problemOf(err)
			p.RequestID = requestID(r)
			return p.Status, encode(p)
		}
		status, body := success(o)
		return status, encode(body)
	}
}

func (s *Server) newOrder(a asked) ledger.NewOrder {
	expires := s.Now().UTC().Add(s.PaymentWindow).Truncate(time.Second)
	if a.ExpiresAt != nil {
		expires = *a.ExpiresAt
	}
	return ledger.NewOrder{
		Order: models.Order{OrderID: a.OrderID, AmountMinor: a.Minor, Currency: a.Currency, ExpiresAt: &expires},
		Items: a.Items,
	}
}

// readOrder reads a body, all of it or nothing.
func readOrder(raw []byte) (asked, error) {
	o := readObject(raw, "order_id", "amount", "currency", "items", "expires_at")
	a := asked{Route: "POST /orders", OrderID: o.id("order_id")}
	sum := o.money("amount", "currency")
	a.Minor, a.Currency = sum.Minor, sum.Currency
	a.Items = readItems(o, a.OrderID)
	if o.has("expires_at") {
		a.ExpiresAt = o.time("expires_at")
	}
	return a, o.err()
}

// money is a sum that somebody can pay, as decimal text. A JSON number would be a float on its way here, or become one.
func (o object) money(amount, currency string) models.Money {
	if number, isNumber := o.values[amount]; isNumber {
		if _, isText := number.(string); !isText && number != nil {
			o.fail(o.path+amount, `decimal text such as "19.99" expected, found %s: money is no floating-point number`, kindOf(number))
		}
	}
	text, code := o.text(amount), o.text(currency)
	if o.err() != nil {
		return models.Money{}
	}
	known, err := models.ParseCurrency(code)
	if err != nil || len(code) != len(known) {
		o.fail(o.path+currency, "%q: an ISO 4217 code such as CNY expected", cut(code))
		return models.Money{}
	}
	m, err := models.ParseMajor(text, known)
	switch {
	case err != nil:
		o.fail(o.path+amount, "%s", strings.TrimPrefix(err.Error(), models.ErrAmount.Error()+": "))
	case m.Minor <= 0:
		o.fail(o.path+amount, "%q: more than 0 expected", cut(text))
	}
	return m
}

// time is a moment with its offset, kept in UTC and whole microseconds, as the databases do.
func (o object) time(key string) *time.Time {
	text := o.text(key)
	var at time.Time
	err := at.UnmarshalText([]byte(text))
	at = at.UTC().Truncate(time.Microsecond)
	if o.err() == nil && (err != nil || at.Year() < 1970 || at.Year() > 9999) {
		o.fail(o.path+key, "%q: a time with its offset expected, such as 2026-11-29T10:00:00+08:00", cut(text))
	}
	return &at
}

// readItems reads what the order takes from stock, sorted by SKU.
func readItems(o object, orderID string) []models.Item {
	items := []models.Item{}
	places := map[string]int{}
	for i, value := range o.list("items", itemsMax) {
		path := "items[" + strconv.Itoa(i) + "]."
		in := o.open(value, path, "sku", "quantity")
		item := models.Item{OrderID: orderID, SKU: in.id("sku"), Quantity: in.whole("quantity", 1, quantityMax)}
		if first, twice := places[item.SKU]; twice {
			o.fail(path+"sku", "%s is in items[%d] already: add the two quantities", item.SKU, first)
		}
		if o.err() != nil {
			return nil
		}
		places[item.SKU] = i
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b models.Item) int { return strings.Compare(a.SKU, b.SKU) })
	return items
}
