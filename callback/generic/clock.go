package generic

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// clock is the check of a callback's age: the provider's time of sending against the time of receipt.
type clock struct {
	from   source // kind "": no check
	unit   string // s, ms, auto or rfc3339
	past   time.Duration
	future time.Duration
}

func (c *clock) on() bool { return c.from.kind != "" }

const toleranceSeconds = 300 // what most providers and libraries use, both ways

func (p *Provider) readClock(signature *parse.Section) clock {
	s := signature.Object("timestamp")
	if s == nil {
		return clock{}
	}
	text := s.Need("from")
	text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}") // {sig:t} as in a template
	c := clock{from: p.readSource(s, "from", text), unit: s.Word("unit", "s", "s", "ms", "auto", "rfc3339")}
	past := s.Seconds("tolerance_seconds", toleranceSeconds)
	c.past = time.Duration(past) * time.Second
	c.future = time.Duration(s.Seconds("future_tolerance_seconds", past)) * time.Second
	s.Close()
	return c
}

// check refuses what is too old or from too far ahead. Exactly the tolerance is still in, one unit more is out: the time of
// receipt is cut to the unit of the timestamp, so that its fraction does not decide.
func (c *clock) check(r *request) error {
	if !c.on() {
		return nil
	}
	sent, step, err := instant(r.find(&c.from), c.unit)
	if err != nil {
		return refuse(models.ReasonTimestamp, c.from.String()+": "+err.Error())
	}
	received := r.cb.ReceivedAt.Truncate(step)
	if sent.Before(received.Add(-c.past)) || sent.After(received.Add(c.future)) { // a difference could overflow
		return refuse(models.ReasonTimestamp, fmt.Sprintf("%s: sent %s, received %s", c.from, sent.Format(time.RFC3339), received.UTC().Format(time.RFC3339)))
	}
	return nil
}

// msFrom tells milliseconds from seconds by size: as seconds it is the year 5138, as milliseconds 1973.
const msFrom = 1e11

// instant reads a time written in unit, and tells the smallest step of it.
func instant(text, unit string) (at time.Time, step time.Duration, err error) {
	if unit == "rfc3339" {
		at, err = time.Parse(time.RFC3339, text)
		if err != nil {
			return at, 0, fmt.Errorf("%q is no time, expected YYYY-MM-DDTHH:MM:SS and Z or +HH:MM", clip(text))
		}
		return at.UTC(), time.Second, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) > 15 || n < 0 || text[0] == '+' { // 15 digits of either unit are far beyond any real time
		return at, 0, fmt.Errorf("%q is no Unix time", clip(text))
	}
	if unit == "ms" || unit == "auto" && n >= msFrom {
		return time.UnixMilli(n).UTC(), time.Millisecond, nil
	}
	return time.Unix(n, 0).UTC(), time.Second, nil
}

// clip keeps a stranger's text out of our logs when it is long.
func clip(text string) string {
	const max = 60
	if len(text) > max {
		return text[:max] + "…"
	}
	return text
}
