package ledger_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// Whatever order things arrive in, the end is the same: the book does not depend on the mood of a network.
func TestEveryOrderOfArrivalEndsAlike(t *testing.T) {
	for name, lines := range arrivals {
		t.Run(name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) { everyOrder(t, book, lines) })
		})
	}
}

var arrivals = map[string][]string{
	"payment, refund, its failure": {
		"order %s 19.99 USD",
		"payment.pending ch-%s 19.99 USD order=%s alias=ch-%s at=11:50",
		"payment.succeeded ch-%s 19.99 USD order=%s alias=pi-%s at=12:00",
		"refund.succeeded re-%s 5.00 USD parent=pi-%s at=12:10",
		"refund.failed re-%s 5.00 USD parent=pi-%s at=15:00",
	},
	"payment, two refunds, a stale failure": {
		"order %s 19.99 USD",
		"payment.failed ch-%s 19.99 USD order=%s at=11:50",
		"payment.succeeded ch-%s 19.99 USD order=%s at=12:00",
		"refund.succeeded reA-%s 5.00 USD parent=ch-%s at=12:10",
		"refund.succeeded reB-%s 3.00 USD parent=ch-%s at=12:20",
	},
	"payment, dispute opened, lost": {
		"order %s 19.99 USD",
		"payment.succeeded ch-%s 19.99 USD order=%s at=12:00",
		"dispute.opened dp-%s 19.99 USD parent=ch-%s at=13:00",
		"dispute.lost dp-%s 19.99 USD parent=ch-%s at=14:00",
	},
	"payment, dispute opened, won": {
		"order %s 19.99 USD",
		"payment.succeeded ch-%s 19.99 USD order=%s at=12:00",
		"dispute.opened dp-%s 19.99 USD parent=ch-%s at=13:00",
		"dispute.won dp-%s 19.99 USD parent=ch-%s at=14:00",
	},
	"totals without ids": {
		"order %s 19.99 USD",
		"payment.succeeded ch-%s 19.99 USD order=%s at=12:00",
		"refund.total ch-%s 5.00 USD at=12:10",
		"refund.total ch-%s 8.00 USD at=12:20",
	},
	"a total, and the refund in it that fails": {
		"order %s 19.99 USD",
		"payment.succeeded ch-%s 19.99 USD order=%s at=12:00",
		"refund.succeeded re-%s 5.00 USD parent=ch-%s at=12:10",
		"refund.total ch-%s 5.00 USD at=12:10",
		"refund.failed re-%s 5.00 USD parent=ch-%s at=15:00",
	},
	"refund, its failure, and another": {
		"payment.succeeded ch-%s 19.99 USD order=%s at=12:00",
		"order %s 19.99 USD",
		"refund.succeeded A-%s 19.99 USD parent=ch-%s at=12:10",
		"refund.failed A-%s 19.99 USD parent=ch-%s at=12:20",
		"refund.succeeded B-%s 19.99 USD parent=ch-%s at=12:30",
	},
	"refund and a lost dispute": {
		"order %s 19.99 USD",
		"payment.succeeded ch-%s 19.99 USD order=%s at=12:00",
		"refund.succeeded re-%s 5.00 USD parent=ch-%s at=12:10",
		"dispute.lost dp-%s 14.99 USD parent=ch-%s at=14:00",
	},
	"two disputes": {
		"payment.succeeded ch-%s 75.00 USD order=%s at=12:00",
		"dispute.opened a-%s 30.00 USD parent=ch-%s at=13:00",
		"dispute.won a-%s 30.00 USD parent=ch-%s at=14:00",
		"dispute.lost b-%s 40.00 USD parent=ch-%s at=15:00",
		"order %s 75.00 USD",
	},
	"running totals": {
		"order %s 200.00 CNY",
		"payment.succeeded t-%s 200.00 CNY order=%s at=12:00",
		"refund.succeeded - 50.00 CNY order=%s parent=t-%s refund_no=R1-%s running=yes at=12:10",
		"refund.succeeded - 80.00 CNY order=%s parent=t-%s refund_no=R2-%s running=yes at=12:20",
		"refund.succeeded - 200.00 CNY order=%s parent=t-%s refund_no=R3-%s running=yes at=12:30",
	},
	"running totals, one asked for with its sum": {
		"order %s 200.00 CNY",
		"payment.succeeded t-%s 200.00 CNY order=%s at=12:00",
		"refund.pending - 30.00 CNY parent=t-%s refund_no=R2-%s at=12:01",
		"refund.succeeded - 50.00 CNY order=%s parent=t-%s refund_no=R1-%s running=yes at=12:10",
		"refund.succeeded - 80.00 CNY order=%s parent=t-%s refund_no=R2-%s running=yes at=12:20",
	},
	"running totals, and the statement's sum of one": {
		"order %s 200.00 CNY",
		"payment.succeeded t-%s 200.00 CNY order=%s at=12:00",
		"refund.succeeded - 30.00 CNY parent=t-%s refund_no=R2-%s at=12:20",
		"refund.succeeded - 50.00 CNY order=%s parent=t-%s refund_no=R1-%s running=yes at=12:10",
		"refund.succeeded - 80.00 CNY order=%s parent=t-%s refund_no=R2-%s running=yes at=12:20",
	},
	"running totals that are the same": {
		"order %s 200.00 CNY",
		"payment.succeeded t-%s 200.00 CNY order=%s at=12:00",
		"refund.succeeded - 50.00 CNY order=%s parent=t-%s refund_no=R1-%s running=yes at=12:10",
		"refund.succeeded - 50.00 CNY order=%s parent=t-%s refund_no=R2-%s running=yes at=12:20",
		"refund.succeeded - 250.00 CNY order=%s parent=t-%s refund_no=R3-%s running=yes at=12:30",
	},
	"finished, paid and refunded": {
		"order %s 19.99 CNY",
		"payment.succeeded t-%s 19.99 CNY order=%s at=12:00",
		"payment.finished t-%s 19.99 CNY order=%s at=23:00",
		"refund.succeeded - 19.99 CNY order=%s parent=t-%s refund_no=R1-%s running=yes at=12:10",
	},
	"authorised, captured in two parts": {
		"order %s 80.00 EUR",
		"payment.authorised A-%s 80.00 EUR order=%s at=12:00",
		"payment.captured C1-%s 30.00 EUR order=%s parent=A-%s at=13:00",
		"payment.captured C2-%s 50.00 EUR order=%s parent=A-%s at=14:00",
		"refund.succeeded R-%s 10.00 EUR parent=C2-%s at=15:00",
	},
	"authorised and voided": {
		"order %s 80.00 EUR",
		"payment.authorised A-%s 80.00 EUR order=%s at=12:00",
		"payment.voided M-%s 80.00 EUR parent=A-%s at=13:00",
		"payment.succeeded B-%s 80.00 EUR order=%s at=14:00",
	},
	"dispute won and lost again, its payment named once": {
		"order %s 75.00 EUR",
		"payment.succeeded A-%s 75.00 EUR order=%s at=12:00",
		"dispute.opened D-%s 75.00 EUR parent=A-%s at=13:00",
		"dispute.won D-%s 75.00 EUR at=14:00",
		"dispute.lost D-%s 75.00 EUR at=15:00",
	},
	"dispute lost and won after all": {
		"order %s 75.00 EUR",
		"payment.succeeded A-%s 75.00 EUR order=%s at=12:00",
		"dispute.opened D-%s 75.00 EUR parent=A-%s at=13:00",
		"dispute.lost D-%s 75.00 EUR parent=A-%s at=14:00",
		"dispute.won D-%s 75.00 EUR at=15:00",
	},
	"dispute and the money's own id": {
		"order %s 75.00 USD",
		"payment.succeeded CAP-%s 75.00 USD order=%s at=12:00",
		"dispute.opened PP-D-%s 75.00 USD parent=CAP-%s found=CAP-%s at=13:00",
		"dispute.lost REV-%s 75.00 USD parent=CAP-%s alias=REV-%s,CAP-%s at=14:00",
		"dispute.lost PP-D-%s 75.00 USD parent=CAP-%s found=CAP-%s at=14:00",
	},
	"two names, and the second alone": {
		"order %s 19.99 USD",
		"payment.succeeded B1-%s 19.99 USD order=%s alias=B1b-%s at=12:00",
		"payment.succeeded B1b-%s 19.99 USD order=%s at=12:00",
		"refund.succeeded re-%s 5.00 USD parent=B1b-%s at=12:10",
	},
	"a capture that failed": {
		"order %s 80.00 EUR",
		"payment.authorised A-%s 80.00 EUR order=%s at=12:00",
		"payment.captured C-%s 80.00 EUR order=%s parent=A-%s at=13:00",
		"payment.voided C-%s 80.00 EUR order=%s parent=A-%s voids=capture at=14:00",
	},
	"a capture that failed, and another": {
		"order %s 80.00 EUR",
		"payment.captured C-%s 80.00 EUR order=%s parent=A-%s at=13:00",
		"payment.voided C-%s 80.00 EUR order=%s parent=A-%s voids=capture at=14:00",
		"payment.captured D-%s 80.00 EUR order=%s parent=A-%s at=15:00",
		"refund.succeeded R-%s 10.00 EUR parent=A-%s at=16:00",
	},
	"a capture that failed, and another, of what counts as paid": {
		"order %s 80.00 EUR",
		"payment.succeeded A-%s 80.00 EUR order=%s at=12:00",
		"payment.captured C-%s 80.00 EUR order=%s parent=A-%s at=13:00",
		"payment.voided C-%s 80.00 EUR order=%s parent=A-%s voids=capture at=14:00",
		"payment.captured D-%s 80.00 EUR order=%s parent=A-%s at=15:00",
	},
	"a part captured that failed": {
		"order %s 80.00 EUR",
		"payment.captured C1-%s 30.00 EUR order=%s parent=A-%s at=13:00",
		"payment.captured C2-%s 50.00 EUR order=%s parent=A-%s at=13:10",
		"payment.voided C2-%s 50.00 EUR order=%s parent=A-%s voids=capture at=14:00",
		"payment.captured C3-%s 50.00 EUR order=%s parent=A-%s at=15:00",
	},
	"a refund failed and succeeded later": {
		"order %s 19.99 CNY",
		"payment.succeeded ch-%s 19.99 CNY order=%s at=12:00",
		"refund.failed re-%s 5.00 CNY parent=ch-%s at=12:05",
		"refund.succeeded re-%s 5.00 CNY parent=ch-%s at=12:10",
	},
	"a refund with another sum than was asked for": {
		"order %s 19.99 CNY",
		"payment.succeeded ch-%s 19.99 CNY order=%s at=12:00",
		"refund.pending - 5.00 CNY parent=ch-%s refund_no=R-%s at=12:05",
		"refund.succeeded re-%s 6.00 CNY parent=ch-%s refund_no=R-%s at=12:10",
	},
	"refunds of two payments under one number": {
		"order %s 19.99 CNY",
		"payment.succeeded p1-%s 19.99 CNY order=%s at=12:00",
		"payment.succeeded p2-%s 9.99 CNY order=other-%s at=12:00",
		"refund.pending - 5.00 CNY parent=p1-%s refund_no=R-%s at=12:05",
		"refund.pending - 4.00 CNY parent=p2-%s refund_no=R-%s at=12:05",
		"refund.succeeded - 5.00 CNY order=%s parent=p1-%s refund_no=R-%s running=yes at=12:10",
	},
	"running totals without a number": {
		"order %s 200.00 CNY",
		"payment.succeeded t-%s 200.00 CNY order=%s at=12:00",
		"refund.succeeded - 50.00 CNY order=%s parent=t-%s refund_no=t-%s running=yes at=12:10",
		"refund.succeeded - 80.00 CNY order=%s parent=t-%s refund_no=t-%s running=yes at=12:20",
		"refund.succeeded - 90.00 CNY order=%s parent=t-%s refund_no=t-%s running=yes at=12:30",
	},
	"dispute won, lost again and won again": {
		"order %s 75.00 EUR",
		"payment.succeeded A-%s 75.00 EUR order=%s at=12:00",
		"dispute.won D-%s 75.00 EUR at=14:00",
		"dispute.opened D-%s 75.00 EUR parent=A-%s at=13:00",
		"dispute.lost D-%s 75.00 EUR at=15:00",
		"dispute.won D-%s 75.00 EUR at=16:00",
	},
	"three names": {
		"order %s 19.99 USD",
		"payment.succeeded ch-%s 19.99 USD order=%s alias=pi-%s at=12:00",
		"payment.succeeded ch-%s 19.99 USD order=%s alias=ch-%s at=12:00",
		"payment.succeeded pi-%s 19.99 USD order=%s alias=pi-%s at=12:00",
		"refund.succeeded re-%s 5.00 USD parent=pi-%s at=12:10",
	},
}

func everyOrder(t *testing.T, book *ledger.Ledger, lines []string) {
	ends := map[string][]string{}
	for i, p := range permutations(len(lines)) {
		if raced && i%11 != 0 {
			continue
		}
		id := fmt.Sprintf("O%d", i)
		var told []string
		for _, n := range p {
			words := strings.Fields(strings.ReplaceAll(lines[n], "%s", id))
			told = append(told, words[0])
			var err error
			if words[0] == "order" {
				err = step(t.Context(), book, words)
			} else {
				account, ev := event(words)
				_, err = record(t.Context(), book, account, ev)
			}
			if err != nil {
				t.Fatal(told, err)
			}
		}
		if _, err := book.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		end := strings.ReplaceAll(ending(t, book, id), id, "ID")
		ends[end] = append(ends[end], strings.Join(told, " "))
	}
	if len(ends) != 1 {
		for end, ways := range ends {
			t.Errorf("%d ways, such as %s, end in\n%s", len(ways), ways[0], end)
		}
	}
	checkBooks(t, book)
}

func ending(t *testing.T, book *ledger.Ledger, id string) string {
	t.Helper()
	h, err := book.OrderHistory(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, tx := range h.Transactions {
		rows = append(rows, fmt.Sprintf("  %s %s %s %s %s", tx.Kind, tx.Money(), tx.Status, tx.Outcome, tx.OccurredAt.Format("15:04")))
	}
	sort.Strings(rows)
	return fmt.Sprintf("%s refunded %d\n%s", h.Order.Status, h.Order.RefundedMinor, strings.Join(rows, "\n"))
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := 0; i <= len(p); i++ {
			q := append([]int{}, p[:i]...)
			all = append(all, append(append(q, n-1), p[i:]...))
		}
	}
	return all
}
