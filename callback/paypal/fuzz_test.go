package paypal

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"paybook/callback"
	"paybook/models"
)

// FuzzVerify: whatever comes is refused, or says exactly what it says when read once more.
func FuzzVerify(f *testing.F) {
	paths, err := filepath.Glob(kit + "/callbacks/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for _, path := range paths {
		rec, err := callback.ReadRecording(path)
		if err != nil {
			f.Fatal(err)
		}
		h := rec.Headers
		f.Add(rec.Body, h["PAYPAL-TRANSMISSION-ID"], h["PAYPAL-TRANSMISSION-TIME"], h["PAYPAL-TRANSMISSION-SIG"], h["PAYPAL-CERT-URL"], h["PAYPAL-AUTH-ALGO"])
	}
	p := plainKit(f)
	p.downloads = newDownloads(unreachableNetwork{})
	f.Fuzz(func(t *testing.T, body []byte, id, sent, signature, url, algo string) {
		cb := models.Callback{Body: bytes.Clone(body), ReceivedAt: now, Headers: http.Header{
			"Paypal-Transmission-Id": {id}, "Paypal-Transmission-Time": {sent}, "Paypal-Transmission-Sig": {signature}, "Paypal-Cert-Url": {url}, "Paypal-Auth-Algo": {algo},
		}}
		events, err := p.Verify(t.Context(), cb)
		if (err == nil) != (len(events) > 0) || !bytes.Equal(body, cb.Body) {
			t.Errorf("Verify = %d events, %v", len(events), err)
		}
		if _, err := p.checkCertURL(url); err != nil && len(events) > 0 {
			t.Errorf("%q is not allowed and was used", url)
		}
	})
}

// FuzzEvent reads bodies as if they were proven: most forged ones never get there.
func FuzzEvent(f *testing.F) {
	for kind := range eventTypes {
		for _, resource := range []string{capture, refunded, authorized, sale, saleRefund, item, dispute, `{}`, `null`} {
			f.Add(kind, "", resource)
		}
	}
	f.Fuzz(func(t *testing.T, kind, resourceType, resource string) {
		defer func() {
			if r := recover(); r != nil {
				t.Fatalf("panic: %v", r)
			}
		}()
		m, ok := messageOf(kind, resourceType, resource)
		if !ok {
			t.Skip()
		}
		for _, ev := range m.events() {
			moves := ev.Kind == models.PaymentSucceeded || ev.Kind == models.RefundSucceeded || ev.Kind == models.DisputeLost
			if moves && (ev.Money.Minor <= 0 || ev.TransactionID == "" || ev.OccurredAt.IsZero()) {
				t.Errorf("%s of %s: %+v", kind, resource, ev)
			}
		}
	})
}

// FuzzReadStatement: a file is read or refused with its place.
func FuzzReadStatement(f *testing.F) {
	raw, err := os.ReadFile(kit + "/statements/STL-20261127.01.009.CSV")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(payments()))
	f.Add([]byte(payments(`"`, "", ",", "\t")))
	f.Add([]byte("\xff\xfe\"\x00R\x00H\x00"))
	f.Add([]byte("Transaction ID,Gross\nx,1\n"))
	p := plain(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		rows := 0
		_, err := p.ReadStatement("x", bytes.NewReader(text), time.UTC, func(e models.Entry) error {
			rows++
			if e.Line <= 0 || e.TransactionID == "" || e.Kind == "" || e.Kind.Compared() && e.Money.Minor < 0 {
				t.Errorf("entry %+v", e)
			}
			return nil
		})
		if err != nil && !errors.As(err, new(*models.FileError)) {
			t.Errorf("ReadStatement = %v, want a *models.FileError", err)
		}
	})
}
