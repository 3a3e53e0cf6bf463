package unionpay

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"

	"paybook/models"
)

// Limits of an answer, which is held in memory. A day of a million payments is a zip of some 20 MB; what is packed once more around
// it, by zlib, does not shrink it, so growth beyond a small multiple is made to fill a machine.
const (
	answerMax   = 64 << 20 // bytes of the answer, and of what it carries
	contentFree = 1 << 20  // bytes that may be packed as tightly as they like
	ratioMax    = 16
)

var answerStart = regexp.MustCompile(`^\s*(?:[A-Za-z][A-Za-z0-9]*=[^&]*&)*(?:fileContent|respCode|signPubKeyCert|txnType)=`)

// Unwrap takes the files out of UnionPay's answer to a file transfer (txnType 76): base64 of zlib of a zip. The answer is signed
// like a notification. Nobody wrote down when it came, so the certificates must have been valid at its own txnTime, which is signed.
func (p *Provider) Unwrap(name string, src *bufio.Reader) (io.Reader, error) {
	head, _ := src.Peek(min(src.Size(), 4096))
	if !answerStart.Match(head) {
		return nil, nil
	}
	fail := func(next, format string, args ...any) (io.Reader, error) {
		return nil, &models.FileError{File: name, What: fmt.Sprintf(format, args...), Next: next}
	}
	raw, err := io.ReadAll(io.LimitReader(src, answerMax+1))
	switch {
	case err != nil:
		return fail("download it again", "%v", err)
	case len(raw) > answerMax:
		return fail("ask for the file itself", "an answer longer than %d bytes", answerMax)
	}
	f, err := parseAnswer(raw)
	if err != nil {
		return fail("download it again", "an answer of UnionPay's file transfer that cannot be read: %v", err)
	}
	what, unproven := refusedBecause(f), p.checkAnswer(f)
	switch {
	case what != "" && unproven != nil: // what it says is worth telling, and proves nothing
		return fail(noFileNext, "%s; and it is not proven to be UnionPay's, for this account: %v", what, unproven)
	case what != "":
		return fail(noFileNext, "%s", what)
	case unproven != nil:
		return fail("download it again", "an answer of UnionPay's file transfer, but not proven to be for this account: %v", unproven)
	}
	content, err := contentOf(f["fileContent"])
	if err == nil {
		err = checkDay(content, f["settleDate"])
	}
	if err != nil {
		return fail("download it again", "fileContent: %v", err)
	}
	return bytes.NewReader(content), nil
}

const noFileNext = "ask again later, or declare a day without one by --no-statement"

// checkDay holds the names of the files in a zip, by which they are read, against the day the answer is for: MMDD, "" if it does not say.
func checkDay(content []byte, settleDate string) error {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil || settleDate == "" {
		return nil //nolint:nilerr // whatever it is, its reader will say
	}
	for _, file := range z.File {
		if day, ok := dayOfName(baseOf(file.Name), beijing); ok && day.Format(dayLayout) != settleDate {
			return fmt.Errorf("the answer is for the settlement day %s, the file in it, %s, is of another", clip(settleDate), clip(file.Name))
		}
	}
	return nil
}

// parseAnswer takes an answer as it was kept: form-encoded, or as the API sends it, in which case it has line ends inside, those of
// the certificate, or no percent sign.
func parseAnswer(raw []byte) (form, error) {
	if text := bytes.TrimSpace(raw); bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '%') >= 0 {
		return parseForm(text, formEncoded)
	}
	return parsePairs(plainPairs(string(raw)), plain)
}

func (p *Provider) checkAnswer(f form) error {
	if f["signature"] == "" {
		return errors.New("it is not signed")
	}
	at, err := moment(f["txnTime"], beijing)
	if err != nil {
		return fmt.Errorf("txnTime: %w", err)
	}
	if err := p.checkSigned(f, at); err != nil {
		return err
	}
	switch {
	case f["merId"] != p.merID:
		return fmt.Errorf("merId %q is not %s", clip(f["merId"]), p.merID)
	case f["txnType"] != "76":
		return fmt.Errorf("txnType is %q, expected 76", clip(f["txnType"]))
	}
	return nil
}

// refusedBecause says in words why an answer carries no file, "" when it should.
func refusedBecause(f form) string {
	switch code := f["respCode"]; code {
	case "00":
		return ""
	case "98":
		return "UnionPay's answer is respCode 98: no such file yet, or a day without transactions"
	case "03":
		return "UnionPay's answer is respCode 03: busy"
	default:
		return fmt.Sprintf("UnionPay's answer is respCode %q, not a file: %s", clip(code), clip(f.text("respMsg")))
	}
}

func contentOf(text string) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	switch {
	case text == "":
		return nil, errors.New("missing or empty")
	case err != nil:
		return nil, errors.New("not base64")
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("not zlib: %w", err)
	}
	limit := min(answerMax, max(contentFree, ratioMax*len(packed)))
	content, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the packed file is cut")
	case err != nil:
		return nil, fmt.Errorf("damaged: %w", err)
	case len(content) > limit:
		return nil, errors.New("unpacks to far more than a statement ever is")
	case len(content) == 0:
		return nil, errors.New("nothing in it")
	}
	return content, nil
}
