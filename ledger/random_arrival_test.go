package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// happenings is what can happen to one order of 19.99; a story is a choice of them, told in any order, some twice.
var happenings = [][]string{
	{"payment.pending pi-%s 19.99 USD order=%s alias=pi-%s at=11:40"},
	{"payment.failed ch0-%s 19.99 USD order=%s alias=ch0-%s at=11:50"},
	{"payment.succeeded ch-%s 19.99 USD order=%s alias=ch-%s at=12:00"},
	{"payment.succeeded ch-%s 19.99 USD order=%s alias=pi-%s,ch-%s at=12:00"},
	{"refund.succeeded A-%s 5.00 USD parent=pi-%s at=12:10"},
	{"refund.pending B-%s 3.00 USD parent=ch-%s at=12:11", "refund.succeeded B-%s 3.00 USD parent=ch-%s at=12:20"},
	{"refund.succeeded C-%s 4.00 USD parent=ch-%s at=12:12", "refund.failed C-%s 4.00 USD parent=ch-%s at=15:00"},
	{"refund.total ch-%s 5.00 USD at=12:10"},
	{"dispute.opened d-%s 6.00 USD parent=ch-%s at=16:00", "dispute.won d-%s 6.00 USD parent=ch-%s at=18:00"},
	{"dispute.opened e-%s 7.00 USD parent=ch-%s at=16:30", "dispute.lost e-%s 7.00 USD parent=ch-%s at=19:00"},
}

// others are what can happen to an order of 200.00 at a provider that tells running totals, or authorises first, and disputes by halves.
var others = [][]string{
	{"payment.pending A-%s 200.00 CNY order=%s at=11:40"},
	{"payment.authorised A-%s 200.00 CNY order=%s at=11:50"},
	{"payment.finished A-%s 200.00 CNY order=%s at=23:00"},
	{"payment.captured C-%s 200.00 CNY order=%s parent=A-%s at=12:00"},
	{"refund.succeeded - 20.00 CNY order=%s parent=A-%s refund_no=R1-%s running=yes at=12:10"},
	{"refund.succeeded - 50.00 CNY order=%s parent=A-%s refund_no=R2-%s running=yes at=12:20"},
	{"refund.pending - 30.00 CNY parent=A-%s refund_no=R2-%s at=12:11"},
	{"refund.succeeded - 50.00 CNY order=%s parent=A-%s refund_no=R3-%s running=yes at=12:30"},
	{"refund.succeeded - 90.00 CNY order=%s parent=A-%s refund_no=R4-%s running=yes at=12:40"},
	{"refund.succeeded - 200.00 CNY order=%s parent=A-%s refund_no=R5-%s running=yes at=12:50"},
	{"refund.succeeded - 210.00 CNY order=%s parent=A-%s refund_no=R6-%s running=yes at=12:55"},
	{"dispute.opened D-%s 60.00 CNY parent=A-%s at=16:00", "dispute.won D-%s 60.00 CNY at=18:00", "dispute.lost D-%s 60.00 CNY at=19:00"},
	{"dispute.opened E-%s 70.00 CNY parent=A-%s found=A-%s at=16:30", "dispute.won E-%s 70.00 CNY parent=A-%s found=A-%s at=19:30"},
	{"dispute.lost G-%s 70.00 CNY parent=A-%s found=A-%s at=16:30"},
}

// captured are what can happen to an order of 90.00 where an authorisation is captured by parts, and captures fail.
var captured = [][]string{
	{"payment.authorised A-%s 90.00 EUR order=%s at=11:50"},
	{"payment.captured B-%s 30.00 EUR order=%s parent=A-%s at=12:00", "payment.voided B-%s 30.00 EUR parent=A-%s voids=capture at=12:30"},
	{"payment.captured C-%s 90.00 EUR order=%s parent=A-%s at=12:01", "payment.voided C-%s 90.00 EUR order=%s parent=A-%s voids=capture at=12:40"},
	{"payment.captured E-%s 50.00 EUR order=%s parent=A-%s at=12:02", "payment.voided E-%s 50.00 EUR parent=A-%s voids=capture at=12:50"},
	{"refund.succeeded R-%s 10.00 EUR parent=A-%s at=16:00"},
	{"refund.failed S-%s 20.00 EUR parent=A-%s at=16:05", "refund.succeeded S-%s 20.00 EUR parent=A-%s at=16:10"},
	{"dispute.opened D-%s 60.00 EUR parent=A-%s at=16:00", "dispute.won D-%s 60.00 EUR at=18:00", "dispute.lost D-%s 60.00 EUR at=19:00", "dispute.won D-%s 60.00 EUR at=20:00"},
}

// Whatever is chosen, and in whatever order it is told, the end is the same, and the sums agree. RANDOM_STORIES is for longer runs.
func TestRandomStoriesEndAlike(t *testing.T) {
	endAlike(t, []string{"order %s 19.99 USD", happenings[3][0]}, happenings)
}

func TestRandomStoriesOfTotalsAndHalvesEndAlike(t *testing.T) {
	endAlike(t, []string{"order %s 200.00 CNY", "payment.succeeded A-%s 200.00 CNY order=%s at=12:00"}, others)
}

func TestRandomStoriesOfCapturesEndAlike(t *testing.T) {
	endAlike(t, []string{"order %s 90.00 EUR", "payment.captured F-%s 90.00 EUR order=%s parent=A-%s at=13:00"}, captured)
}

func endAlike(t *testing.T, always []string, happenings [][]string) {
	t.Helper()
	stories, err := strconv.Atoi(ledgertest.Env("RANDOM_STORIES", "40"))
	if err != nil {
		t.Fatal(err)
	}
	if raced {
		stories /= 5
	}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := range stories {
			lines := slices.Clone(always)
			for _, h := range happenings {
				if rng.IntN(3) == 0 {
					lines = append(lines, h...)
				}
			}
			ends := map[string][]string{}
			for way := range 6 {
				id := fmt.Sprintf("S%d-%d", n, way)
				told := tell(t, book, rng, lines, id)
				end := strings.ReplaceAll(ending(t, book, id), id, "ID")
				ends[end] = told
			}
			if len(ends) != 1 {
				for end, told := range ends {
					t.Errorf("story %d told as\n  %s\nends in\n%s", n, strings.Join(told, "\n  "), end)
				}
				return
			}
		}
		checkBooks(t, book)
	})
}

// tell tells the lines in a random order, one in four twice, with a sweep at the end.
func tell(t *testing.T, book *ledger.Ledger, rng *rand.Rand, lines []string, id string) (told []string) {
	t.Helper()
	order := rng.Perm(len(lines))
	for _, i := range order {
		for range 1 + rng.IntN(4)/3 {
			line := strings.ReplaceAll(lines[i], "%s", id)
			words := strings.Fields(line)
			var err error
			if words[0] == "order" {
				err = step(t.Context(), book, words)
			} else {
				account, ev := event(words)
				_, err = record(t.Context(), book, account, ev)
			}
			if err != nil {
				t.Fatal(line, err)
			}
			told = append(told, line)
		}
	}
	if _, err := book.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	return told
}
