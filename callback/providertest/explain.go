package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"paybook/callback"
	"paybook/models"
)

// provingReasons are the verdicts that an explanation has to show a step for: the message was not proven genuine. What a genuine one
// is refused for, Verify says in a line.
var provingReasons = []models.Reason{models.ReasonSignature, models.ReasonTimestamp, models.ReasonKey, models.ReasonAlgorithm,
	models.ReasonCertificate, models.ReasonChain, models.ReasonCertURL, models.ReasonBasicAuth}

// testExplain holds a provider's explanation against its verdict.
func (s *suite) testExplain(t *testing.T) {
	explainer, ok := s.p.(callback.Explainer)
	if !ok {
		t.Skip("does not explain")
	}
	for _, rec := range s.recordings {
		cb := rec.Callback(rec.Provider)
		body := slices.Clone(cb.Body)
		steps := explainer.Explain(context.Background(), cb)
		if !slices.Equal(body, cb.Body) {
			t.Errorf("%s: Explain changed the body it was given", rec.Name)
		}
		_, err := s.verify(cb)
		checkSteps(t, rec, steps, err)
		cb.Headers = nil
		_ = explainer.Explain(context.Background(), cb)
	}
	rec := s.genuine()[0]
	for _, body := range [][]byte{nil, {}, []byte("{}"), []byte("[]"), []byte("null"), []byte("%&%=%zz&&==&sign"), rec.Body[:len(rec.Body)/2], slices.Concat(rec.Body, rec.Body)} {
		cb := rec.Callback(rec.Provider)
		cb.Body = body
		steps := explainer.Explain(context.Background(), cb)
		_, err := s.verify(cb)
		if failed := failedStep(steps); failed != nil && err == nil {
			t.Errorf("body %q: step %+v failed, and Verify accepts it", clip(body), *failed)
		}
	}
}

func checkSteps(t *testing.T, rec callback.Recording, steps []models.Step, err error) {
	t.Helper()
	failed := failedStep(steps)
	var refused *models.Rejection
	switch {
	case err == nil && failed != nil:
		t.Errorf("%s: step %+v failed, and Verify accepts it", rec.Name, *failed)
	case errors.As(err, &refused) && slices.Contains(provingReasons, refused.Reason) && failed == nil && len(steps) > 0:
		t.Errorf("%s: refused for %s, and every step is OK", rec.Name, refused.Reason)
	case err == nil && len(steps) < 2:
		t.Errorf("%s: steps are %+v, want them told", rec.Name, steps)
	}
	text := fmt.Sprint(steps)
	for name, value := range rec.Headers {
		if signed := strings.ToLower(name); len(value) > 40 && (strings.Contains(signed, "signature") || strings.HasSuffix(signed, "-sig") || signed == "authorization") && strings.Contains(text, value) {
			t.Errorf("%s: header %s is shown whole", rec.Name, name)
		}
	}
}

func failedStep(steps []models.Step) *models.Step {
	i := slices.IndexFunc(steps, func(s models.Step) bool { return !s.OK })
	if i < 0 {
		return nil
	}
	return &steps[i]
}

func clip(body []byte) []byte { return body[:min(len(body), 40)] }
