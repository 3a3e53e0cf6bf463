package cmd

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"paybook/reconcile/source"
)

// published is when the providers say that a day's statement is there, in the account's zone, with half an hour for them to be late where
// it is built at that hour. Any other provider: ten in the morning.
var published = map[string]time.Duration{
	"wechatpay": 10 * time.Hour, // built from 09:00, to be fetched after 10:00
	"alipay":    10*time.Hour + 30*time.Minute,
	"unionpay":  9*time.Hour + 30*time.Minute,
	"stripe":    12 * time.Hour, // its data of a day is complete by noon of the next
	"paypal":    12*time.Hour + 30*time.Minute,
	"adyen":     8 * time.Hour, // when a batch closes
}

const (
	publishedElse = 10 * time.Hour
	lateAfter     = 2 * time.Hour // after publication
	never         = -1
)

// Silence is when it is an alarm that nothing comes.
type Silence struct {
	After  time.Duration // 0: never
	Orders int           // so many orders must be pending for longer
}

// readSchedule reads when the account's runs are made by themselves; nil: never. An account that has its statements fetched is run by
// itself unless it is told not to; one with files of its own only when it is told to.
func readSchedule(s *section, a *Account) *source.Schedule {
	node := s.keys["schedule"]
	switch {
	case !s.has("schedule") && len(a.Remotes) == 0 && (node == nil || node.Tag != "!!map"):
		return nil
	case node != nil && node.Kind == yaml.ScalarNode && node.Tag != "!!null":
		if s.word("schedule", "", "on", "off", "true", "false") == "off" || node.Value == "false" {
			return nil
		}
		node = nil
	}
	if len(a.Remotes) == 0 && len(a.Statements) == 0 {
		s.fail("schedule", "means nothing without fetch or statements: there is no statement to wait for")
	}
	own := s.r.section(node, s.path+"schedule.", "at", "late", "retry", "again", "days")
	at, known := published[a.ProviderName]
	if !known {
		at = publishedElse
	}
	out := &source.Schedule{
		At:    own.clock("at", at),
		Retry: own.duration("retry", 10*time.Minute, 10*time.Second, 24*time.Hour),
		Again: own.duration("again", time.Hour, 0, 7*24*time.Hour),
		Days:  own.whole("days", 7, 1, 60),
	}
	if !own.has("again") && onlyAPI(a) {
		out.Again = 12 * time.Hour // a download each time
	}
	late := (out.At + lateAfter) % (24 * time.Hour)
	if settlesInBatches(a) {
		late = never // there need not be a batch every day
	}
	if out.Late = late; own.has("late") && own.text("late", "") == "off" {
		out.Late = never
	} else if own.has("late") {
		out.Late = own.clock("late", late)
	}
	return out
}

func onlyAPI(a *Account) bool {
	for _, r := range a.Remotes {
		switch r.(type) {
		case *source.SFTP, *source.S3:
			return false
		}
	}
	return len(a.Remotes) > 0
}

// clock is a time of the day, as a span after midnight.
func (s *section) clock(key string, fallback time.Duration) time.Duration {
	text := s.text(key, "")
	if text == "" {
		return fallback
	}
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		s.fail(key, "%q: HH:MM expected, in quotes", text)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}

// clockText is the other way round.
func clockText(at time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(at.Hours()), int(at.Minutes())%60)
}

// readSilence reads a time such as 30m, or {after: 30m, orders: 5}.
func readSilence(s *section, a *Account) Silence {
	node := s.keys["silence"]
	if !s.has("silence") {
		return Silence{}
	}
	if a.Elsewhere {
		s.fail("silence", "means nothing with orders: elsewhere, whose orders are not known here")
	}
	const least, most = time.Minute, 24 * time.Hour
	if node.Kind == yaml.MappingNode {
		own := s.r.section(node, s.path+"silence.", "after", "orders")
		if !own.has("after") {
			own.fail("after", "missing: a time such as 30m")
		}
		return Silence{After: own.duration("after", 0, least, most), Orders: own.whole("orders", 1, 1, 1_000_000)}
	}
	return Silence{After: s.duration("silence", 0, least, most), Orders: 1}
}
