package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

// Schedule is when the runs of an account are made by themselves.
type Schedule struct {
	At    time.Duration // when the statement of a day is published, after midnight of the account's zone, once the day has ended
	Late  time.Duration // when it is an alarm that it is not there, likewise; negative: never
	Retry time.Duration // between two tries while it is not there
	Again time.Duration // between two looks for a corrected file once the run is made; 0: none
	Days  int           // how many days back a missed run is made up for, at least 1
}

// Job is one account that is run by itself.
type Job struct {
	Account reconcile.Account // with its Zone
	Schedule
	// Places makes the places of one try.
	Places func() *Places
}

// Scheduler makes the runs that are due. Any number of replicas may have one, as a ledger.Chore.
type Scheduler struct {
	Book *ledger.Ledger
	Jobs []Job
	Now  func() time.Time
	Log  *slog.Logger
	// Alarm is told, with every look, what is the matter with a day, and that nothing is; nil: nobody.
	Alarm func(context.Context, Trouble) error
}

// Trouble is a statement that is not there by its hour, or a run that could not be made of one that is there; or that it is over.
type Trouble struct {
	Account, Date string
	Late          bool      // else the run failed
	By            time.Time // UTC: when it should have been there
	Over          bool
	Problem       string // what the last try said
}

// Tick makes every run that is due, oldest day first. What is wrong with one account keeps no other from its run; only a database that
// fails is an error.
func (s *Scheduler) Tick(ctx context.Context) error {
	var failed []error
	for i := range s.Jobs {
		if err := s.account(ctx, &s.Jobs[i]); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.Jobs[i].Account.Name, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(failed...)
}

func (s *Scheduler) account(ctx context.Context, j *Job) error {
	days, err := s.due(ctx, j)
	if err != nil || len(days) == 0 {
		return err
	}
	from := days[0].String()
	ran, err := s.Book.RunDays(ctx, j.Account.Name, from)
	if err != nil {
		return err
	}
	tries, err := s.Book.Fetches(ctx, j.Account.Name, from)
	if err != nil {
		return err
	}
	for _, day := range days {
		last := tries[day.String()]
		since := s.Now().Sub(last.TriedAt)
		switch {
		case !ran[day.String()] && (last.Tries == 0 || since >= j.Retry):
			ran[day.String()], err = s.try(ctx, j, day, &last)
		case ran[day.String()] && j.Again > 0 && since >= j.Again:
			err = s.again(ctx, j, day)
		}
		if err == nil {
			err = s.alarm(ctx, j, day, ran[day.String()], last.Problem)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// due are the days whose statement is published by now, oldest first: as far back as configured, but not further than the book knows the
// account. An account it does not know yet begins with the newest.
func (s *Scheduler) due(ctx context.Context, j *Job) ([]reconcile.Day, error) {
	zone, cut, now := j.Account.Zone, j.Account.Cut, s.Now()
	newest := reconcile.DayOf(now, zone, cut).Add(-1)
	for newest.Due(zone, cut, j.At).After(now) {
		newest = newest.Add(-1)
	}
	first, run, err := s.Book.Began(ctx, j.Account.Name)
	if err != nil {
		return nil, err
	}
	oldest := newest
	if !first.IsZero() {
		oldest = reconcile.DayOf(first, zone, cut)
	}
	if day, err := reconcile.ParseDay(run); err == nil && (first.IsZero() || day.Before(oldest)) {
		oldest = day
	}
	if limit := reconcile.DayOf(now, zone, cut).Add(-max(j.Days, 1)); oldest.Before(limit) {
		oldest = limit
	}
	var days []reconcile.Day
	for day := oldest; !newest.Before(day); day = day.Add(1) {
		days = append(days, day)
	}
	return days, nil
}

// try fetches and runs one day, and writes down how it went. last becomes this try; made says whether there is a run now.
func (s *Scheduler) try(ctx context.Context, j *Job, day reconcile.Day, last *models.Fetch) (made bool, err error) {
	places := j.Places()
	places.Again = true
	report, err := reconcile.Run(ctx, s.Book, j.Account, places.Files, day, reconcile.Options{Now: s.Now})
	log := s.Log.With("account", j.Account.Name, "date", day.String())
	problem := ""
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, reconcile.ErrBusy):
		log.Info("run left to the one that is under way")
		return false, nil
	case err != nil:
		problem = err.Error()
		if s.tell(log, problem, last.Problem, places.Missing); !places.Missing {
			if err := s.say(ctx, Trouble{Account: j.Account.Name, Date: day.String(), Problem: problem}); err != nil {
				return false, err
			}
		}
	default:
		log.Info("run made", "result", report.Result, "run", report.RunID, "compared", report.Compared, "matched", report.Matched, "gaps", len(report.Gaps), "carried", len(report.Carried))
	}
	last.Tries, last.Problem = last.Tries+1, problem
	return problem == "", s.Book.NoteFetch(ctx, j.Account.Name, day.String(), problem)
}

// tell says once what is wrong, and not with every try.
func (s *Scheduler) tell(log *slog.Logger, problem, before string, waiting bool) {
	switch {
	case problem == before:
		log.Debug("run not made, as before", "error", problem)
	case waiting:
		log.Info("run waits for its statement", "error", problem)
	default:
		log.Warn("run not made", "error", problem)
	}
}

// again looks for a file that was corrected after the run, and makes the run anew when there is one.
func (s *Scheduler) again(ctx context.Context, j *Job, day reconcile.Day) error {
	log := s.Log.With("account", j.Account.Name, "date", day.String())
	fresh, err := j.Places().Renew(ctx, day)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		log.Info("not looked for a corrected statement", "error", err.Error())
	case fresh > 0:
		log.Info("another statement has come", "files", fresh)
		_, err = s.try(ctx, j, day, &models.Fetch{})
		return err
	}
	return s.Book.NoteFetch(ctx, j.Account.Name, day.String(), "")
}

// alarm says that a statement is late; or, once there is a run, that nothing is the matter any more.
func (s *Scheduler) alarm(ctx context.Context, j *Job, day reconcile.Day, ran bool, problem string) error {
	t := Trouble{Account: j.Account.Name, Date: day.String(), Over: ran, Problem: problem}
	if ran {
		if err := s.say(ctx, t); err != nil {
			return err
		}
	}
	if j.Late < 0 {
		return nil
	}
	t.Late, t.By = true, reconcile.Next(day.Due(j.Account.Zone, j.Account.Cut, j.At), j.Account.Zone, j.Late)
	if s.Now().Before(t.By) && !ran {
		return nil
	}
	return s.say(ctx, t)
}

func (s *Scheduler) say(ctx context.Context, t Trouble) error {
	if s.Alarm == nil {
		return nil
	}
	return s.Alarm(ctx, t)
}
