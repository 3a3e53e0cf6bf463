package crosscheck

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"paybook/callback"
	"paybook/models"
)

// sdk is somebody else's verifier.
type sdk struct {
	verify func(cb models.Callback) error
	// differs names the recordings about which it is known to judge otherwise than we do, and why.
	differs map[string]string
	// lax says of a changed request that it may be judged differently, because the library is known not to look there.
	lax func(cb models.Callback) bool
	// looser says why it may take a damaged copy that we refuse; never the other way about.
	looser string
}

// agree asks both about every recording of a kit, and about thousands of damaged copies, at the time of the recording.
func agree(t *testing.T, ours callback.Provider, kit string, theirs sdk) {
	t.Helper()
	paths, err := filepath.Glob("../testdata/" + kit + "/callbacks/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings of %s (%v)", kit, err)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		rec, err := callback.ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		seen[rec.Name] = true
		at(t, rec.ReceivedAt, func(t *testing.T) {
			compare(t, ours, theirs, rec)
			if theirs.differs[rec.Name] == "" {
				compareDamaged(t, ours, theirs, rec)
			}
		})
	}
	for name := range theirs.differs {
		if !seen[name] {
			t.Errorf("%s is said to differ, and is no recording", name)
		}
	}
}

// at runs f when it is that time: these libraries read the clock of the machine.
func at(t *testing.T, when time.Time, f func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(when))
		f(t)
	})
}

func compare(t *testing.T, ours callback.Provider, theirs sdk, rec callback.Recording) {
	cb := rec.Callback(rec.Provider)
	our, their := genuine(ours, cb), theirs.verify(cb)
	why, known := theirs.differs[rec.Name]
	if same := (our == nil) == (their == nil); same == known {
		t.Errorf("%s: we say %v, they say %v (known: %s)", rec.Name, our, their, why)
	}
}

const damagedCopies = 300

// compareDamaged flips a bit of the body or of a header, or cuts the body.
func compareDamaged(t *testing.T, ours callback.Provider, theirs sdk, rec callback.Recording) {
	random := rand.New(rand.NewPCG(1, uint64(len(rec.Body))))
	for range damagedCopies {
		cb := rec.Callback(rec.Provider)
		damage(random, &cb)
		if theirs.lax != nil && theirs.lax(cb) {
			continue
		}
		our, their := genuine(ours, cb), theirs.verify(cb)
		if our != nil && theirs.looser != "" {
			continue
		}
		if (our == nil) != (their == nil) {
			t.Errorf("%s, damaged: we say %v, they say %v\n%v\n%q", rec.Name, our, their, cb.Headers, cb.Body)
			return
		}
	}
}

func damage(random *rand.Rand, cb *models.Callback) {
	cb.Body = append([]byte(nil), cb.Body...)
	cb.Headers = cb.Headers.Clone()
	if random.IntN(3) == 0 {
		names := slices.Sorted(maps.Keys(cb.Headers))
		name := names[random.IntN(len(names))]
		if text := []byte(cb.Headers.Get(name)); len(text) > 0 {
			text[random.IntN(len(text))] ^= 1 << random.IntN(7)
			cb.Headers[name] = []string{string(text)}
		}
		return
	}
	if random.IntN(8) == 0 {
		cb.Body = cb.Body[:random.IntN(len(cb.Body))]
		return
	}
	cb.Body[random.IntN(len(cb.Body))] ^= 1 << random.IntN(8)
}

// genuine is our judgement on the signature alone: a message that is proven and not for this account, or cannot be decrypted, is genuine.
func genuine(p callback.Provider, cb models.Callback) error {
	_, err := p.Verify(context.Background(), cb)
	var refused *models.Rejection
	if errors.As(err, &refused) && (refused.Reason == models.ReasonMerchant || refused.Reason == models.ReasonDecrypt) {
		return nil
	}
	return err
}
