package ledger_test

import (
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// A payment and its order may be committed at the same moment, and neither sees the other: the payment waits, and the order is unpaid,
// until the next sweep. What is told of the payment before that must count all the same.
func TestToldOfAPaymentThatHasSlippedPastItsOrder(t *testing.T) {
	const payment = "payment.succeeded ch1 20.00 USD order=O1 => "
	for name, story := range map[string][]string{
		"refund": {
			"refund.succeeded re1 5.00 USD parent=ch1 => applied",
			payment + "duplicate",
			"order? O1 part_refunded refunded=5.00 path=unpaid>paid>part_refunded messages=2",
		},
		"payment again, then a refund": {
			payment + "applied",
			"refund.succeeded re1 5.00 USD parent=ch1 => applied",
			"order? O1 part_refunded refunded=5.00 path=unpaid>paid>part_refunded messages=2",
		},
		"dispute": {
			"dispute.opened dp1 20.00 USD parent=ch1 => applied",
			"order? O1 disputed path=unpaid>paid>disputed messages=2",
		},
		"dispute, told before the order too": {
			"dispute.lost dp1 20.00 USD parent=ch1 at=15:00 => applied",
			"dispute.won dp1 20.00 USD parent=ch1 at=16:00 => applied",
			"order? O1 paid path=unpaid>paid>charged_back>paid messages=3",
		},
		"request": {
			"import refund.pending - 5.00 USD parent=ch1 refund_no=R1 => applied",
			"order? O1 paid path=unpaid>paid messages=1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
				lines := append([]string{payment + "no_order", ""}, story...)
				lines = append(lines, "sweep", story[len(story)-1], "row? payment ch1 succeeded applied order=O1")
				for _, l := range lines {
					var err error
					if l == "" {
						err = book.InsertUnseen(t.Context(), models.Order{OrderID: "O1", AmountMinor: 2000, Currency: "USD"})
					} else {
						err = step(t.Context(), book, strings.Fields(l))
					}
					if err != nil {
						t.Fatalf("%s: %v", l, err)
					}
				}
				checkBooks(t, book)
			})
		})
	}
}
